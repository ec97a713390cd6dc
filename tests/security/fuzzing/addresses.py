"""Addresses of graders and webhooks: what is called in the end is public, whatever was written.

The oracle does not share the platform's code: it watches which IP address a connection would go to,
and takes apart what other addresses that one holds.
"""

import ipaddress
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from types import SimpleNamespace
from typing import Any

import httpcore
import pytest

from autotune_platform.outbound import addresses, connections
from autotune_platform.runtime.errors import InvalidRequestError
from tests.security.fuzzing.cases import Case, Found
from tests.security.fuzzing.mutating import spliced
from tests.support.platform import Platform
from tests.support.platform import platform as make_platform

_INSIDE = (
    *("127.0.0.1", "127.255.3.9", "0.0.0.0", "10.0.0.1", "172.16.0.1", "172.31.255.255"),
    *("192.168.1.1", "169.254.169.254", "169.254.170.2", "100.64.0.1", "100.100.100.200"),
    *("198.18.0.1", "192.0.0.8", "192.0.2.1", "203.0.113.9", "224.0.0.1", "240.0.0.1"),
    "255.255.255.255",
)
_OUTSIDE = ("8.8.8.8", "93.184.215.14", "1.1.1.1")
_INSIDE_6 = ("::1", "::", "fe80::1", "fc00::1", "fd00:ec2::254", "fec0::1", "ff02::1")
_OUTSIDE_6 = ("2606:4700::1111", "2001:4860:4860::8888")
_NAMES = {
    "public.example": ("8.8.8.8",),
    "public6.example": ("2606:4700::1111",),
    "private.example": ("10.0.0.1",),
    "metadata.example": ("169.254.169.254",),
    "mixed.example": ("8.8.8.8", "127.0.0.1"),
    "mapped.example": ("::ffff:10.0.0.1",),
    "translated.example": ("64:ff9b::a00:1",),
    "tunnelled.example": ("2002:7f00:1::1",),
    "localhost": ("127.0.0.1", "::1"),
    "xn--bcher-kva.example": ("93.184.215.14",),
}
_TRANSLATORS = tuple(
    map(ipaddress.IPv6Network, ["64:ff9b::/96", "::/96", "::ffff:0:0:0/96", "64:ff9b:1::/96"])
)
_CALLABLE_PORTS = frozenset([443, *range(1_024, 65_536)])


def is_outside(address: str) -> bool:
    """Return whether an address, and every one that it holds, is of the public internet."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv4Address):
        return ip.is_global and not (ip.is_multicast or ip.is_reserved)
    held = [ip.ipv4_mapped, ip.sixtofour, *(ip.teredo or ())]
    held += [
        ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF) for network in _TRANSLATORS if ip in network
    ]
    if ip.ipv4_mapped is not None:
        return is_outside(str(ip.ipv4_mapped))
    is_well = ip.is_global and not (ip.is_multicast or ip.is_site_local or ip.is_link_local)
    return is_well and all(is_outside(str(one)) for one in held if one is not None)


def _resolved(host: Any, port: Any, **options: Any) -> list[Any]:
    """Answer as the system's resolver does, but for names, which are our own."""
    try:
        return socket.getaddrinfo(host, port, flags=socket.AI_NUMERICHOST, **options)
    except socket.gaierror:
        name = host.encode("idna").decode() if isinstance(host, str) else host.decode()
    found = _NAMES.get(name.lower().removesuffix("."))
    if found is None:
        raise socket.gaierror(socket.EAI_NONAME, "no such name")
    return [(0, socket.SOCK_STREAM, 6, "", (address, port)) for address in found]


class _Watched:
    """Connects to nothing, and notes where it should have."""

    def __init__(self) -> None:
        self.reached: list[tuple[str, int]] = []

    def connect_tcp(self, host: str, port: int, *_: Any, **__: Any) -> Any:
        self.reached.append((host, port))
        raise httpcore.ConnectError("watched")


@contextmanager
def names_of_ours() -> Iterator[None]:
    """Let no name be looked up anywhere."""
    with pytest.MonkeyPatch.context() as patched:
        known = SimpleNamespace(
            getaddrinfo=_resolved,
            SOCK_STREAM=socket.SOCK_STREAM,
            gaierror=socket.gaierror,
        )
        patched.setattr(addresses, "socket", known)
        yield


def reached(url: str) -> list[tuple[str, int]]:
    """Return where a call of a URL would connect to, by the pool that calls graders."""
    watched = _Watched()
    backend = connections.CheckedBackend(admit_private=False)
    backend._sockets = watched  # type: ignore[assignment]
    with httpcore.ConnectionPool(network_backend=backend) as pool:
        try:
            pool.request("POST", url)
        except (connections.AddressRefusedError, httpcore.ConnectError):
            pass
        except (httpcore.UnsupportedProtocol, httpcore.LocalProtocolError, TypeError, ValueError):
            pass  # no URL of HTTP, which ``check_url`` has to refuse
    return watched.reached


def check(url: str) -> str:
    """Check a URL, and call it whatever the check said; return what the check said.

    Raises:
        Found: it leads inside, or what was let through does.
    """
    called = reached(url)
    for address, port in called:
        if not is_outside(address) or port not in _CALLABLE_PORTS:
            raise Found("only public addresses are connected to", url, called)
    try:
        addresses.check_url(url, field="url", admit_private=False, may_have_query=True)
    except InvalidRequestError as error:
        if not error.fields:
            raise Found("a refusal names its field", url, error.detail) from error
        return "refused"
    if not url.lower().startswith("https://"):
        raise Found("only HTTPS is let through", url)
    host = httpcore.URL(url).host.decode()
    try:
        found = {str(entry[4][0]) for entry in _resolved(host, 443, type=socket.SOCK_STREAM)}
    except (OSError, UnicodeError):
        return "no such name yet"
    if not all(map(is_outside, found)):
        raise Found("what is let through is public", url, found)
    return "accepted"


def _numeric(address: str, random: Random) -> str:
    """Return an IPv4 address in one of the notations that resolvers take."""
    octets = [int(part) for part in address.split(".")]
    whole = int.from_bytes(bytes(octets), "big")
    odd = [
        lambda: str(whole),
        lambda: hex(whole),
        lambda: f"0{whole:o}",
        lambda: ".".join(f"0{octet:o}" for octet in octets),
        lambda: ".".join(hex(octet) for octet in octets),
        lambda: f"{octets[0]}.{whole & 0xFFFFFF}",
        lambda: f"{octets[0]}.{octets[1]}.{whole & 0xFFFF}",
        lambda: ".".join(f"{octet:03}" for octet in octets),
        lambda: f"{address}.",
        lambda: address.translate({48 + digit: 0xFF10 + digit for digit in range(10)}),
        lambda: address.replace(".", "\u3002"),
        lambda: address.replace("1", "%31"),
        lambda: address,
        lambda: address,
    ]
    return random.choice(odd)()


def _with_inside(address: str, random: Random) -> str:
    """Return an IPv6 address that holds an IPv4 address."""
    packed = int(ipaddress.IPv4Address(address))
    high, low = packed >> 16, packed & 0xFFFF
    return random.choice(
        [
            f"::ffff:{address}",
            f"::ffff:{high:x}:{low:x}",
            f"0:0:0:0:0:ffff:{high:04X}:{low:04X}",
            f"::{address}",
            f"::ffff:0:{address}",
            f"64:ff9b::{address}",
            f"64:ff9b::{high:x}:{low:x}",
            f"64:ff9b:1::{address}",
            f"2002:{high:x}:{low:x}::1",
            f"2001:0:{high:x}:{low:x}::1",
            f"2001:0:808:808:0:0:{high ^ 0xFFFF:x}:{low ^ 0xFFFF:x}",
        ]
    )


def host(random: Random) -> str:
    """Return a host, numeric or a name, seldom as one would write it."""
    kind = random.random()
    if kind < 0.45:
        known = random.choice(_INSIDE if random.random() < 0.7 else _OUTSIDE)
        if random.random() < 0.1:
            known = str(ipaddress.IPv4Address(random.getrandbits(32)))
        return _numeric(known, random)
    if kind < 0.75:
        pool = random.choice([_INSIDE_6, _OUTSIDE_6, ()])
        v4 = random.choice(_INSIDE + _OUTSIDE)
        found = random.choice(pool) if pool else _with_inside(v4, random)
        zone = random.choice(["", "", "", "%eth0", "%25lo", "%1"])
        return f"[{found}{zone}]"
    name = random.choice([*_NAMES, "nobody.example", "bücher.example", "", "a" * 64 + ".example"])
    changes = [
        name,
        name,
        name.upper(),
        f"{name}.",
        f"{name}..",
        f".{name}",
        name.replace("l", "ⓛ").replace("p", "\uff50"),
        f"{name}\u00ad",
        f"{name}%00.example",
        f"{name}\t",
    ]
    return random.choice(changes)


def url(random: Random) -> str:
    """Return a URL that might lead inside."""
    named = host(random)
    if random.random() < 0.4:
        return f"https://{named}{random.choice(['', ':443', ':8443'])}/grader"
    scheme = random.choice(["https", "https", "https", "https", "HTTPS", "http", "ftp", ""])
    user = random.choice(["", "", "", "", "a@", "a:b@", "8.8.8.8@", "8.8.8.8#@", "8.8.8.8\\@", "@"])
    port = random.choice(
        [
            "",
            "",
            "",
            "",
            ":443",
            ":8443",
            ":80",
            ":22",
            ":0",
            ":65536",
            ":",
            ":-1",
            ":\uff1443",
            ":1e3",
        ]
    )
    path = random.choice(["", "/", "/score", "/../x", "?q=1", "/#f", "\\x", "/\r\nHost: x", "/%0d"])
    made = f"{scheme}:{random.choice(['//', '//', '//', '//', '/', '///', ''])}{user}{named}{port}"
    made += path
    return spliced(made, random) if random.random() < 0.1 else made


@contextmanager
def opened() -> Iterator[Case]:
    """Check URLs, and hand some of them to the API as endpoints of graders and as webhooks."""
    with (
        pytest.MonkeyPatch.context() as patched,
        names_of_ours(),
        make_platform(patched, admit_private=False) as platform,
    ):

        def case(random: Random) -> str:
            drawn = url(random)
            said = check(drawn)
            if random.random() < 0.03:
                return f"{said}, API {_by_api(platform, drawn, random, said)}"
            return said

        yield case


def _by_api(platform: Platform, drawn: str, random: Random, said: str) -> int:
    path, name = random.choice([("graders", "endpoint"), ("webhooks", "url")])
    body = {"name": "g", name: drawn} if path == "graders" else {name: drawn}
    answer = platform.call("POST", f"/api/v1/{path}", body)
    if answer.status == 201 and said == "refused":
        raise Found("what is refused is not stored", drawn, answer.text)
    # 409: there are as many webhooks as may be.
    if answer.status not in {201, 409, 422}:
        raise Found("a URL is stored or refused", drawn, answer.text)
    return answer.status
