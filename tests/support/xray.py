"""X-Ray's daemon on loopback, and invocations as Lambda tells a process of them."""

import json
import os
import secrets
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from aws_lambda_powertools.shared.lazy_import import LazyLoader
from aws_lambda_powertools.tracing import Tracer, tracer

from autotune_platform.runtime import traces

_HEADER = b'{"format":"json","version":1}\n'
TRACER = "aws_xray_sdk"
_LISTENING_SECONDS = 0.05


@dataclass
class Invocation:
    """What a trace knows of one invocation of a function: its trace, and its own segment."""

    trace_id: str = field(
        default_factory=lambda: f"1-{int(time.time()):08x}-{secrets.token_hex(12)}"
    )
    segment_id: str = field(default_factory=lambda: secrets.token_hex(8))
    sampled: str = "Sampled=1"

    @property
    def header(self) -> str:
        """Return it as Lambda writes it, which adds its lineage."""
        parts = (f"Root={self.trace_id}", f"Parent={self.segment_id}", self.sampled)
        return ";".join([*filter(None, parts), "Lineage=1:2d6a3cc2:0"])


class Daemon:
    """Receives what the real tracer sends."""

    def __init__(self, receiving: socket.socket) -> None:
        self._socket = receiving
        self.datagrams: list[bytes] = []

    @property
    def address(self) -> str:
        host, port = self._socket.getsockname()
        return f"{host}:{port}"

    def take_in(self) -> None:
        """Read all that was sent so far: loopback delivers it before the sender goes on."""
        self._socket.settimeout(0)
        while True:
            try:
                self.datagrams.append(self._socket.recv(65_536))
            except BlockingIOError:
                break

    def send(self, datagram: bytes) -> None:
        """Send something to it, as a function does."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sending:
            sending.sendto(datagram, self._socket.getsockname())

    def forget(self, datagram: bytes) -> None:
        """Have something not been sent."""
        self.take_in()
        self.datagrams.remove(datagram)

    @property
    def documents(self) -> list[dict[str, Any]]:
        """Every segment that was sent so far."""
        self.take_in()
        assert all(one.startswith(_HEADER) for one in self.datagrams)
        return [json.loads(one.removeprefix(_HEADER)) for one in self.datagrams]

    @property
    def annotations(self) -> list[dict[str, Any]]:
        return [one["annotations"] for one in self.documents]


@contextmanager
def daemon() -> Iterator[Daemon]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiving:
        receiving.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        receiving.bind(("127.0.0.1", 0))
        yield Daemon(receiving)


@contextmanager
def listening_daemon() -> Iterator[Daemon]:
    """Provide a daemon that reads what others send as it comes, so that none of it is dropped."""
    over = threading.Event()
    with daemon() as receiving:

        def listen() -> None:
            while not over.wait(_LISTENING_SECONDS):
                receiving.take_in()

        thread = threading.Thread(target=listen, daemon=True)
        thread.start()
        try:
            yield receiving
        finally:
            over.set()
            thread.join()


@contextmanager
def without_tracer(patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have the process be one that has not imported the tracer, before and after."""
    _forget()
    patch.setattr(tracer, TRACER, LazyLoader(TRACER, {}, TRACER))
    yield
    if core := sys.modules.get(f"{TRACER}.core"):
        core.xray_recorder.emitter._socket.close()
    _forget()


@contextmanager
def traced(patch: pytest.MonkeyPatch, address: str) -> Iterator[None]:
    """Have the process be a function's whose traces go to an address."""
    with without_tracer(patch):
        patch.setenv("LAMBDA_TASK_ROOT", "/var/task")
        patch.setenv("AWS_XRAY_DAEMON_ADDRESS", address)
        yield


def invoke(patch: pytest.MonkeyPatch, invocation: Invocation) -> Invocation:
    """Begin an invocation in this process."""
    patch.setenv("_X_AMZN_TRACE_ID", invocation.header)
    return invocation


def tracer_is_imported() -> bool:
    return any(name.partition(".")[0] == TRACER for name in sys.modules)


def _forget() -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == TRACER]:
        del sys.modules[name]
    traces._recorder.cache_clear()
    Tracer._reset_config()
    assert "AWS_XRAY_SDK_ENABLED" not in os.environ
