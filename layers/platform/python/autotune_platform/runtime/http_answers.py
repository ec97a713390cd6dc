"""Answers of HTTP as they are read from a connection, with less work than Python's own reader has.

That reads headers as those of a mail, and makes a file of each answer. Most answers say how long
they are, in a head that comes at once.
"""

from collections.abc import Sequence
from contextlib import closing
from http.client import HTTPException, HTTPResponse, IncompleteRead, RemoteDisconnected
from io import BufferedReader, RawIOBase
from socket import socket
from typing import Any, Final, NamedTuple, Self

_END_OF_HEAD: Final = b"\r\n\r\n"
_READ_AT_ONCE: Final = 16_384
_LONGEST_LINE: Final = 65_536
_MOST_HEADERS: Final = 100
_FIRST_FINAL: Final = 200
_WITHOUT_BODY: Final = (204, 304)


class Head(NamedTuple):
    """What an answer begins with; of a header that comes twice the last counts.

    Attributes:
        length: of the body in bytes; None where it does not say, or comes in chunks.
        is_last: whether nothing can be asked over the connection after it.
    """

    status: int
    fields: dict[str, str]
    is_chunked: bool
    length: int | None
    is_last: bool

    @classmethod
    def of(cls, lines: Sequence[str]) -> Self:
        """Return what the lines of status and headers say.

        Raises:
            HTTPException: they are no final answer's.
            ValueError: the body's length is no number.
        """
        status_line, *lines = lines
        version, _, said = status_line.partition(" ")
        if not version.startswith("HTTP/1.") or not said[:3].isdigit():
            message = "no answer of HTTP/1"
            raise HTTPException(message)
        status = int(said[:3])
        if status < _FIRST_FINAL:
            message = "another answer is to follow, as was not asked for"
            raise HTTPException(message)
        if len(lines) > _MOST_HEADERS:
            message = "more headers than are read"
            raise HTTPException(message)
        fields: dict[str, str] = {}
        for line in lines:
            name, _, value = line.partition(":")
            fields[name.lower()] = value.strip()
        get = fields.get
        is_chunked = get("transfer-encoding", "").lower() == "chunked"
        written = "0" if status in _WITHOUT_BODY else get("content-length")
        length = None if is_chunked or written is None else int(written)
        if length is not None and length < 0:
            message = "a body of less than nothing"
            raise HTTPException(message)
        is_last = (
            version != "HTTP/1.1"
            or get("connection", "").lower() == "close"
            or (length is None and not is_chunked)
        )
        return cls(status, fields, is_chunked, length, is_last)


def answer_from(connection: socket) -> tuple[Head, bytes]:
    """Return the head and the body of the answer to a POST.

    Raises:
        HTTPException, ValueError, OSError: there is none, or none that can be read.
    """
    came = connection.recv(_READ_AT_ONCE)
    end = came.find(_END_OF_HEAD)
    if end >= 0:
        head = Head.of(came[:end].decode("latin-1").split("\r\n"))
        if head.length is not None:
            begun = came[end + len(_END_OF_HEAD) :][: head.length]
            return head, begun + _rest_of(connection, head.length - len(begun))
    with closing(_Response(_Begun(came, connection), method="POST")) as answer:  # type: ignore[arg-type]
        answer.begin()
        return answer.head, answer.read()


def _rest_of(connection: socket, missing: int) -> bytes:
    """Return so many bytes of a body.

    Raises:
        IncompleteRead: it ends before.
    """
    parts: list[bytes] = []
    while missing:
        part = connection.recv(min(missing, _READ_AT_ONCE))
        if not part:
            raise IncompleteRead(b"".join(parts), missing)
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)


class _Response(HTTPResponse):
    """An answer that does not say how long it is, or whose head comes in pieces."""

    head: Head

    def begin(self) -> None:
        """Read status and headers, and where the body ends."""
        self.head = Head.of(self._head())
        self.status, self.length = self.head.status, self.head.length
        self.chunked, self.chunk_left = self.head.is_chunked, None
        self.will_close = self.head.is_last

    def _head(self) -> list[str]:
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


class _Begun(RawIOBase):
    """An answer as a file: what came of it, and then what is still to come."""

    def __init__(self, came: bytes, connection: socket) -> None:
        super().__init__()
        self._came = came
        self._connection = connection

    def makefile(self, _mode: str) -> BufferedReader:
        """Return what reads it, as a connection does."""
        return BufferedReader(self)

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read as much as there is at once; nothing at the end."""
        if not self._came:
            return self._connection.recv_into(buffer)
        part, self._came = self._came[: len(buffer)], self._came[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)
