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
from http.client import (
    HTTPConnection,
    HTTPException,
    HTTPResponse,
    HTTPSConnection,
    RemoteDisconnected,
)
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from botocore.exceptions import (
    ConnectionClosedError,
    ConnectTimeoutError,
    EndpointConnectionError,
    ReadTimeoutError,
    SSLError,
)
from botocore.httpsession import get_cert_path

_END_OF_HEAD: Final = b"\r\n\r\n"
_LONGEST_LINE: Final = 65_536
_MOST_HEADERS: Final = 100
_FIRST_FINAL: Final = 200
_WITHOUT_BODY: Final = (204, 304)


class Answer(NamedTuple):
    """An answer as it came, with header names in lower case."""

    status_code: int
    headers: dict[str, str]
    content: bytes


class _Response(HTTPResponse):
    """An answer whose head is read as a mapping; of a header that comes twice the last counts."""

    def begin(self) -> None:
        """Read status and headers, and where the body ends."""
        status_line, *lines = self._head()
        version, _, said = status_line.partition(" ")
        if not version.startswith("HTTP/1.") or not said[:3].isdigit():
            message = "no answer of HTTP/1"
            raise HTTPException(message)
        self.status = int(said[:3])
        if self.status < _FIRST_FINAL:
            message = "another answer is to follow, as was not asked for"
            raise HTTPException(message)
        if len(lines) > _MOST_HEADERS:
            message = "more headers than are read"
            raise HTTPException(message)
        self.fields: dict[str, str] = {}
        for line in lines:
            name, _, value = line.partition(":")
            self.fields[name.lower()] = value.strip()
        get = self.fields.get
        self.chunked = get("transfer-encoding", "").lower() == "chunked"
        self.chunk_left = None
        length = "0" if self.status in _WITHOUT_BODY else get("content-length")
        self.length = None if self.chunked or length is None else int(length)
        if self.length is not None and self.length < 0:
            message = "a body of less than nothing"
            raise HTTPException(message)
        self.will_close = (
            version != "HTTP/1.1"
            or get("connection", "").lower() == "close"
            or (self.length is None and not self.chunked)
        )

    def _head(self) -> list[str]:
        """Return the lines of status and headers: read at once where they came so, as most do."""
        ahead: bytes = self.fp.peek()
        if (end := ahead.find(_END_OF_HEAD)) >= 0:
            return self.fp.read(end + len(_END_OF_HEAD))[:end].decode("latin-1").split("\r\n")
        lines = []
        while line := self._line():
            lines.append(line)
            if len(lines) > _MOST_HEADERS + 1:
                break
        return lines or [""]

    def _line(self) -> str:
        line: bytes = self.fp.readline(_LONGEST_LINE)
        if not line:
            message = "no answer"
            raise RemoteDisconnected(message)
        if not line.endswith(b"\n"):
            message = "a longer line than is read"
            raise HTTPException(message)
        return line.rstrip(b"\r\n").decode("latin-1")


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
        answer = _Response(kept.connection.sock, method="POST")
        is_whole = False
        try:
            kept.connection.sock.sendall(head.encode("latin-1") + body)
            answer.begin()
            content = answer.read()
            is_whole = not answer.will_close
        except TimeoutError as error:
            raise ReadTimeoutError(endpoint_url=self._url, error=error) from error
        except ssl.SSLError as error:
            raise SSLError(endpoint_url=self._url, error=error) from error
        except (HTTPException, ValueError, OSError) as error:
            raise ConnectionClosedError(endpoint_url=self._url, error=error) from error
        finally:
            if is_whole and len(self._idle) < self._most_idle:
                self._idle.append(kept)
            else:
                answer.close()
                kept.connection.close()
        return Answer(answer.status, answer.fields, content)

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
