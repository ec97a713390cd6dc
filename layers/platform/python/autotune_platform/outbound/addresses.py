"""Which addresses may be connected to.

A grader's endpoint and a webhook's URL come from outside, so that they may not lead inside:
private, loopback, link-local and every other address that is not globally reachable are refused
(OWASP, "Server-Side Request Forgery Prevention").
"""

import ipaddress
import re
import socket
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

from autotune_platform.runtime.errors import InvalidRequestError

# Addresses with an IPv4 address inside, whose end is not visible from here; site-local ones of old.
_REFUSED = tuple(
    map(
        ipaddress.IPv6Network,
        ["::/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "fec0::/10"],
    )
)

_FIRST_USER_PORT = 1_024

RESOLVE_SECONDS = 5
"""How long a name may take to resolve: whoever named it may keep its own name server, and a lookup
ends by no other time limit."""


def is_callable_port(port: int) -> bool:
    """Return whether a port may be called: HTTPS's own, or one that no system service has."""
    return port == 443 or port >= _FIRST_USER_PORT


def is_public(address: str) -> bool:
    """Return whether an IP address is globally reachable."""
    ip = ipaddress.ip_address(address.split("%", maxsplit=1)[0])
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped is not None:
            return is_public(str(ip.ipv4_mapped))
        if any(ip in network for network in _REFUSED):
            return False
    return ip.is_global and not ip.is_multicast


def check_url(url: str, *, field: str, admit_private: bool, may_have_query: bool = False) -> None:
    """Refuse a URL that could never be called.

    A name that does not resolve yet is let through; it is looked up again at each call.

    Args:
        field: what the caller knows the URL as.

    Raises:
        InvalidRequestError: not an HTTPS URL, on an address that is not public, or on a port of a
            system service.
    """
    expected = _malformed(url, may_have_query=may_have_query)
    if expected is None and not (admit_private and urlsplit(url).scheme == "http"):
        expected = _uncallable(url, admit_private=admit_private)
    if expected is not None:
        raise InvalidRequestError.of_field(field, expected, detail=f"expected {expected}")


def _malformed(url: str, *, may_have_query: bool) -> str | None:
    """Return what a URL should look like, or None if it does."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return "a URL such as https://service.example.com"
    if parts.scheme not in {"http", "https"}:
        return "a URL that begins with https://"
    if not parts.hostname or parts.username or parts.password or parts.fragment:
        return "a URL with a host, without user or fragment"
    if parts.query and not may_have_query:
        return "a base URL: scheme, host and path, without query"
    if re.fullmatch(r"[!-~]+", url) is None:
        return "a URL in printable ASCII without spaces"
    return None


def _uncallable(url: str, *, admit_private: bool) -> str | None:
    """Return what kind of address a well-formed URL should name, or None if it does."""
    parts = urlsplit(url)
    if parts.scheme != "https":
        return "a URL that begins with https://"
    if admit_private or not parts.hostname:
        return None
    if parts.port is not None and not is_callable_port(parts.port):
        return "a URL whose port is 443 or from 1024 to 65535"
    try:
        addresses = resolve(parts.hostname, parts.port or 443)
    except OSError:
        return None
    return None if all(map(is_public, addresses)) else "a host with public addresses only"


def resolve(host: str, port: int, seconds: float = RESOLVE_SECONDS) -> list[str]:
    """Return every address of a host, in the resolver's order.

    Raises:
        OSError: the name does not resolve; ``TimeoutError`` if not in so many seconds.
    """
    thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="resolve")
    try:
        looked_up = thread.submit(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
        found = looked_up.result(seconds)
    except UnicodeError as error:  # an empty label, or one of over 63 characters
        raise socket.gaierror(f"{host} is not a host name") from error
    finally:
        # What has not ended by now ends by itself, and nobody waits for it.
        thread.shutdown(wait=False)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))
