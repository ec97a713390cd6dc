"""Connections to one place that are kept and used again: Python's own, with less work than it has.

Botocore and urllib3 take a millisecond of CPU for each request, and Python's client a tenth of it,
of which most goes into headers: it sends each by itself, and reads them as those of a mail. What
goes wrong is raised as botocore's errors, which it and others know.
"""

import select
import ssl
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import NamedTuple
from urllib.parse import urlsplit

from botocore.exceptions import (
    ConnectionClosedError,
    ConnectTimeoutError,
    EndpointConnectionError,
    ReadTimeoutError,
    SSLError,
)
from botocore.httpsession import get_cert_path

from autotune_platform.runtime.http_answers import answer_from


class Answer(NamedTuple):
    """An answer as it came, with header names in lower case."""

    status_code: int
    headers: dict[str, str]
    content: bytes


class _Kept(NamedTuple):
    connection: HTTPConnection
    poll: Callable[[int], object]


class Connections:
    """Posts requests to one place, each over a connection that nobody else has at the time.

    Args:
        url: the place.
        connect_timeout, read_timeout: in seconds, for a connection and for each part of an answer.
        most_idle: how many connections wait for a next request.
        certificates: file of whom to trust; True for those that botocore trusts.
    """

    def __init__(
        self,
        url: str,
        *,
        connect_timeout: float,
        read_timeout: float,
        most_idle: int,
        certificates: str | bool = True,
    ) -> None:
        parts = urlsplit(url)
        self._url = url
        self._host, self._port = parts.hostname or "", parts.port
        self._is_secure = parts.scheme == "https"
        self._connect_timeout, self._read_timeout = connect_timeout, read_timeout
        self._certificates = certificates
        self._most_idle = most_idle
        self._idle: deque[_Kept] = deque()
        weakref.finalize(self, _close, self._idle)

    def post(self, host: str, target: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """Send a request and return its answer.

        Raises:
            HTTPClientError: there is no answer; whether the request came through, nobody knows.
            ValueError: a header has more than one line.
        """
        lines = [f"POST {target} HTTP/1.1", f"Host: {host}", "Accept-Encoding: identity"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        lines += [f"Content-Length: {len(body)}", "\r\n"]
        head = "\r\n".join(lines)
        if head.count("\n") != len(lines):
            message = "a header has more than one line"
            raise ValueError(message)
        kept = self._one()
        can_be_kept = False
        try:
            kept.connection.sock.sendall(head.encode("latin-1") + body)
            answered, content = answer_from(kept.connection.sock)
            can_be_kept = not answered.is_last
        except TimeoutError as error:
            raise ReadTimeoutError(endpoint_url=self._url, error=error) from error
        except ssl.SSLError as error:
            raise SSLError(endpoint_url=self._url, error=error) from error
        except (HTTPException, ValueError, OSError) as error:
            raise ConnectionClosedError(endpoint_url=self._url, error=error) from error
        finally:
            if can_be_kept and len(self._idle) < self._most_idle:
                self._idle.append(kept)
            else:
                kept.connection.close()
        return Answer(answered.status, answered.fields, content)

    def _one(self) -> _Kept:
        while True:
            try:
                kept = self._idle.pop()
            except IndexError:
                return self._new()
            # Nothing is to come before it is asked: the other side has closed it, such as while
            # this process was frozen.
            if not kept.poll(0):
                return kept
            kept.connection.close()

    def _new(self) -> _Kept:
        connection = (
            HTTPSConnection(
                self._host,
                self._port,
                timeout=self._connect_timeout,
                context=_trusting(self._certificates),
            )
            if self._is_secure
            else HTTPConnection(self._host, self._port, timeout=self._connect_timeout)
        )
        try:
            connection.connect()
        except TimeoutError as error:
            raise ConnectTimeoutError(endpoint_url=self._url, error=error) from error
        except ssl.SSLError as error:
            raise SSLError(endpoint_url=self._url, error=error) from error
        except OSError as error:
            raise EndpointConnectionError(endpoint_url=self._url, error=error) from error
        connection.sock.settimeout(self._read_timeout)
        poller = select.poll()
        poller.register(connection.sock, select.POLLIN)
        return _Kept(connection, poller.poll)


def _close(idle: Iterable[_Kept]) -> None:
    for kept in idle:
        kept.connection.close()


@cache
def _trusting(certificates: str | bool) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=get_cert_path(certificates))  # type: ignore[arg-type]
    # Python 3.13 is stricter about the form of certificates than botocore is.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context
