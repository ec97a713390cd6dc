"""Answers are read at once where they come so, and else as they come."""

import socket
import threading
from collections.abc import Sequence
from time import sleep

import pytest
from botocore.exceptions import ConnectionClosedError

from autotune_platform.runtime.lean_http import Connections
from tests.support.python_calls import python_calls
from tests.support.scripted_server import answer, scripted

CONTENT = b'{"Item": {}}'
FOUND = answer(CONTENT)
HEAD = FOUND.removesuffix(CONTENT)


def connections_to(url: str) -> Connections:
    return Connections(url, connect_timeout=1, read_timeout=5, most_idle=1)


def posted_twice(said: bytes) -> tuple[list[bytes], int]:
    """Return the bodies of two answers, and how many connections these took."""
    with scripted([said]) as server:
        place = connections_to(server.url)
        return [place.post("h", "/", {}, b"{}").content for _ in range(2)], server.connections


def with_headers(number: int, *, length: int) -> bytes:
    """Return an answer with so many headers beside its own three, the first of that length."""
    more = "\r\n".join(
        f"X-{place}: {'y' * (length if place == 0 else 1)}" for place in range(number)
    )
    return FOUND.replace(b"\r\n\r\n", b"\r\n" + more.encode() + b"\r\n\r\n", 1)


def test_an_answer_that_comes_at_once_is_read_with_few_calls_of_functions() -> None:
    """It took 65 while a file was made of each."""
    with scripted([FOUND]) as server:
        place = connections_to(server.url)
        assert python_calls(lambda: place.post("h", "/", {}, b"{}")) <= 55


def test_a_body_may_come_in_chunks() -> None:
    chunks = b"%x\r\n%s\r\n" % (5, CONTENT[:5]) + b"%x\r\n%s\r\n" % (len(CONTENT) - 5, CONTENT[5:])
    head = HEAD.replace(b"Content-Length", b"Transfer-Encoding: chunked\r\nX-Length")
    assert posted_twice(head + chunks + b"0\r\n\r\n") == ([CONTENT] * 2, 1)


def test_a_body_may_end_with_its_connection() -> None:
    head = HEAD.replace(b"Content-Length", b"Connection: close\r\nX-Length")
    assert posted_twice(head + CONTENT) == ([CONTENT] * 2, 2)


def test_a_body_may_be_longer_than_what_is_read_at_once() -> None:
    content = b"x" * 200_000
    assert posted_twice(answer(content)) == ([content] * 2, 1)


def test_an_answer_may_have_no_body() -> None:
    head = HEAD.replace(b"200 Any", b"204 Any").replace(b"Content-Length", b"X-Length")
    assert posted_twice(head) == ([b""] * 2, 1)


def test_what_comes_behind_a_body_is_no_answer_to_what_is_asked_next() -> None:
    contents, _ = posted_twice(FOUND + answer(b"{}"))
    assert contents == [CONTENT] * 2


@pytest.mark.parametrize("longest", [1, 9_000, 60_000], ids=["read-at-once", "longer", "long"])
def test_a_head_may_be_as_long_as_a_hundred_lines(longest: int) -> None:
    assert posted_twice(with_headers(97, length=longest)) == ([CONTENT] * 2, 1)


@pytest.mark.parametrize("length", [1, 60_000], ids=["read-at-once", "longer"])
def test_a_head_of_more_lines_is_not_read(length: int) -> None:
    with pytest.raises(ConnectionClosedError):
        posted_twice(with_headers(98, length=length))


@pytest.mark.parametrize(
    "pieces",
    [
        [b"HTTP/1.", b"1 200 OK\r\nContent-Le", b"ngth: 2\r", b"\nX-Name: a: b\r\n\r", b"\n{}"],
        [b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Name: a: b\r\n\r\n", b"{", b"}"],
        [b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Name: a: b\r\n\r", b"\n{", b"}"],
    ],
    ids=["head", "body", "both"],
)
def test_an_answer_may_come_in_pieces(pieces: Sequence[bytes]) -> None:
    assert _posted(pieces) == (200, {"content-length": "2", "x-name": "a: b"}, b"{}")


@pytest.mark.parametrize(
    "pieces",
    [
        [b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{"],
        [b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", b"{"],
        [b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n", b"\r\n{"],
        [b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"],
    ],
    ids=["at-once", "body", "head", "no-body"],
)
def test_an_answer_that_ends_too_early_is_none(pieces: Sequence[bytes]) -> None:
    with pytest.raises(ConnectionClosedError):
        _posted(pieces)


def _posted(pieces: Sequence[bytes]) -> tuple[int, dict[str, str], bytes]:
    """Return what is read of an answer that comes in these pieces, and then ends."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        place = connections_to(f"http://127.0.0.1:{server.getsockname()[1]}")
        answering = threading.Thread(target=_answer_in, args=(pieces, server))
        answering.start()
        try:
            return place.post("h", "/", {}, b"{}")
        finally:
            answering.join()


def _answer_in(pieces: Sequence[bytes], server: socket.socket) -> None:
    connection, _ = server.accept()
    with connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.recv(1_000)
        for piece in pieces:
            connection.sendall(piece)
            sleep(0.02)
