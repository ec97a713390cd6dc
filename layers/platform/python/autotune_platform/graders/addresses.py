"""Which addresses the gateway may connect to.

A grader's endpoint comes from outside, so that it may not lead inside: private, loopback,
link-local and every other address that is not globally reachable are refused (OWASP, "Server-Side
Request Forgery Prevention").
"""

import ipaddress
import re
import socket
from urllib.parse import urlsplit

from autotune.protocol.problems import FieldProblem
from autotune_platform.errors import InvalidRequestError

# Addresses with an IPv4 address inside, whose end cannot be told from here; site-local ones of old.
_REFUSED = tuple(
    map(
        ipaddress.IPv6Network,
        ["::/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "fec0::/10"],
    )
)


_FIRST_USER_PORT = 1_024


def is_callable_port(port: int) -> bool:
    """Tell whether graders may listen on a port: HTTPS's own, or one that no system service has."""
    return port == 443 or port >= _FIRST_USER_PORT


def is_public(address: str) -> bool:
    """Tell whether an IP address is globally reachable."""
    ip = ipaddress.ip_address(address.split("%", maxsplit=1)[0])
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped is not None:
            return is_public(str(ip.ipv4_mapped))
        if any(ip in network for network in _REFUSED):
            return False
    return ip.is_global and not ip.is_multicast


def check_endpoint(endpoint: str, *, admit_private: bool) -> None:
    """Refuse an endpoint that could never be called.

    A name that does not resolve yet is let through; it is looked up again at each call.

    Raises:
        InvalidRequestError: not an HTTPS base URL, on an address that is not public, or on a port
            of a system service.
    """
    try:
        url = urlsplit(endpoint)
        port = url.port
    except ValueError as error:
        raise _invalid("a URL such as https://grader.example.com") from error
    if url.scheme != "https" and not (admit_private and url.scheme == "http"):
        raise _invalid("a URL that begins with https://")
    if not url.hostname or url.username or url.password or url.query or url.fragment:
        raise _invalid("a base URL: scheme, host and path, without user, query or fragment")
    if re.fullmatch(r"[!-~]+", endpoint) is None:
        raise _invalid("a URL in printable ASCII without spaces")
    if admit_private:
        return
    if port is not None and not is_callable_port(port):
        raise _invalid("a URL whose port is 443 or from 1024 to 65535")
    try:
        addresses = resolve(url.hostname, port or 443)
    except OSError:
        return
    if not all(map(is_public, addresses)):
        raise _invalid("a host with public addresses only")


def resolve(host: str, port: int) -> list[str]:
    """Return every address of a host, in the resolver's order.

    Raises:
        OSError: the name does not resolve.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError as error:  # an empty label, or one of over 63 characters
        raise socket.gaierror(f"{host} is not a host name") from error
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def _invalid(expected: str) -> InvalidRequestError:
    return InvalidRequestError(
        f"endpoint: expected {expected}", fields=[FieldProblem(field="endpoint", expected=expected)]
    )
