import time
from threading import Event
from typing import Any

import httpcore
import pytest

from autotune_platform.outbound import addresses, connections
from autotune_platform.outbound.addresses import is_callable_port, is_public
from autotune_platform.outbound.connections import AddressRefusedError, CheckedBackend


@pytest.mark.parametrize(
    "address", ["93.184.215.14", "2606:4700::1111", "::ffff:93.184.215.14", "8.8.8.8"]
)
def test_global_addresses_are_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "127.8.8.8",
        "0.0.0.0",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "100.64.0.1",
        "169.254.169.254",
        "192.0.2.1",
        "198.18.0.1",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "fe80::1%eth0",
        "fc00::1",
        "fd00:ec2::254",
        "ff02::1",
        "2001:db8::1",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "64:ff9b:1::1",
        "fec0::1",
        "::7f00:1",
        "::ffff:0:7f00:1",
    ],
)
def test_everything_else_is_not(address: str) -> None:
    assert not is_public(address)


def test_calls_go_where_no_system_service_listens() -> None:
    assert all(map(is_callable_port, [443, 1_024, 8_080, 65_535]))
    assert not any(map(is_callable_port, [0, 22, 25, 80, 442, 444, 1_023]))


def test_a_port_is_checked_when_connecting_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "resolve", lambda *_: [])
    with pytest.raises(AddressRefusedError):
        CheckedBackend(admit_private=False).connect_tcp("grader.example", 22)
    with pytest.raises(httpcore.ConnectError, match="no address"):
        CheckedBackend(admit_private=True).connect_tcp("grader.example", 22)
    with pytest.raises(httpcore.ConnectError, match="no address"):
        CheckedBackend(admit_private=False).connect_tcp("grader.example", 443)


def test_a_name_whose_server_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    released = Event()

    def look_up(*_: Any, **__: Any) -> list[Any]:
        released.wait(60)
        return []

    # What is a default was read when the function was made.
    monkeypatch.setattr(addresses.resolve, "__defaults__", (0.05,))
    monkeypatch.setattr(connections, "RESOLVE_SECONDS", 0.05)
    monkeypatch.setattr(addresses.socket, "getaddrinfo", look_up)
    began = time.monotonic()
    try:
        with pytest.raises(TimeoutError):
            addresses.resolve("slow.example", 443)
        with pytest.raises(httpcore.ConnectTimeout, match="looked up"):
            CheckedBackend(admit_private=False).connect_tcp("slow.example", 443)
        # It is looked up again at each call.
        addresses.check_url("https://slow.example", field="baseUrl", admit_private=False)
        assert time.monotonic() - began < 10, "none of the three waits as long as it usually may"
    finally:
        released.set()
