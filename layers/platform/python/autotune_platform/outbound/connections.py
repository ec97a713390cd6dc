"""Connections to addresses from outside: checked ones, and for a bounded time in all.

Names are resolved here and the connection goes to the very address that was checked, so that a
second answer from DNS changes nothing. TLS still checks the certificate against the name; a pin
asks for one certificate among those that pass.
"""

import hashlib
import ssl
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import certifi
import httpcore

from autotune_platform.outbound.addresses import (
    RESOLVE_SECONDS,
    is_callable_port,
    is_public,
    resolve,
)

CONNECT_TIMEOUT_SECONDS = 5
_MAX_CONNECTIONS = 32
_WRITE_BYTES = 16_384
_deadline: ContextVar[float] = ContextVar("_deadline")
_pins: ContextVar[Sequence[str]] = ContextVar("_pins", default=())


class AddressRefusedError(Exception):
    """We do not connect there: to an address that is not public, or to that port."""


class CertificateMismatchError(Exception):
    """The other side's certificate is none of those that were asked for; nothing was sent to it."""


@contextmanager
def pinned(fingerprints: Sequence[str]) -> Iterator[None]:
    """Let everything inside be sent to the holder of one of these certificates only, if any.

    A pooled connection is looked at anew by each call that it serves: it may have been opened for a
    call with other pins.

    Args:
        fingerprints: SHA-256 of the leaf certificate in DER, lower-case hexadecimal.
    """
    token = _pins.set(fingerprints)
    try:
        yield
    finally:
        _pins.reset(token)


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Let everything that is sent and received inside take at most ``seconds`` together.

    Time-outs of single reads do not bound an answer that drips in byte by byte. A limit inside of
    another one makes it no longer.
    """
    ends = time.monotonic() + seconds
    token = _deadline.set(min(ends, _deadline.get(ends)))
    try:
        yield
    finally:
        _deadline.reset(token)


def connection_pool(*, admit_private: bool) -> httpcore.ConnectionPool:
    """Return connections for all calls of a process, kept alive for 20 s after a call.

    Args:
        admit_private: whether addresses may be called that are not public, as on a laptop.
    """
    return httpcore.ConnectionPool(
        ssl_context=_trusting_public_authorities(),
        max_connections=_MAX_CONNECTIONS,
        keepalive_expiry=20,
        network_backend=CheckedBackend(admit_private=admit_private),
    )


def _trusting_public_authorities() -> ssl.SSLContext:
    return ssl.create_default_context(cafile=certifi.where())


class CheckedBackend(httpcore.NetworkBackend):
    """Opens TCP connections to public addresses only.

    Every address of a name must be public; the connection goes to the first that answers.
    """

    def __init__(self, *, admit_private: bool) -> None:
        self._admit_private = admit_private
        self._sockets = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """Resolve, check and connect.

        Raises:
            AddressRefusedError: an address of ``host`` is not public, or ``port`` is a system
                service's.
            httpcore.ConnectError: the name does not resolve, or nothing answers.
            httpcore.ConnectTimeout: the name does not resolve in time, or nothing answers.
        """
        if not self._admit_private and not is_callable_port(port):
            raise AddressRefusedError(f"{host}:{port}")
        seconds = _left(RESOLVE_SECONDS, httpcore.ConnectTimeout) or RESOLVE_SECONDS
        try:
            addresses = resolve(host, port, seconds)
        except TimeoutError as error:
            raise httpcore.ConnectTimeout(f"{host} was not looked up in time") from error
        except OSError as error:
            raise httpcore.ConnectError(str(error)) from error
        if not self._admit_private and not all(map(is_public, addresses)):
            raise AddressRefusedError(host)
        refused: Exception | None = None
        for address in addresses:
            left = _left(timeout, httpcore.ConnectTimeout)
            try:
                stream = self._sockets.connect_tcp(
                    address, port, left, local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                refused = error
            else:
                return _BoundedStream(stream)
        raise refused or httpcore.ConnectError(f"{host} has no address")


class _BoundedStream(httpcore.NetworkStream):
    """A connection that keeps to the deadline and the pins of the call that it serves now."""

    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream
        self._fingerprint = _fingerprint(stream.get_extra_info("socket"))

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _left(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        pins = _pins.get()
        if pins and self._fingerprint not in pins:
            raise CertificateMismatchError
        # One time-out would count anew for each part that a slow reader lets through.
        for start in range(0, len(buffer), _WRITE_BYTES):
            part = buffer[start : start + _WRITE_BYTES]
            self._stream.write(part, _left(timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        left = _left(timeout, httpcore.ConnectTimeout)
        return _BoundedStream(self._stream.start_tls(ssl_context, server_hostname, left))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _fingerprint(connected: Any) -> str | None:
    """Return the fingerprint of the other side's certificate, None before TLS or without it."""
    if not isinstance(connected, ssl.SSLSocket):
        return None
    certificate = connected.getpeercert(binary_form=True)
    return None if certificate is None else hashlib.sha256(certificate).hexdigest()


def _left(timeout: float | None, exceeded: type[httpcore.TimeoutException]) -> float | None:
    """Return the shorter of an operation's own time-out and what is left of the call."""
    deadline = _deadline.get(None)
    if deadline is None:
        return timeout
    left = deadline - time.monotonic()
    if left <= 0:
        raise exceeded("the call took too long")
    return left if timeout is None else min(timeout, left)
