"""Calls of models at real servers on loopback, which break in every way that a call can end."""

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import pytest

from autotune_platform.ledger.calls import Answer, Outcome, Refusal
from autotune_platform.ledger.model_calls import MAX_ANSWER_BYTES, ModelCalls
from autotune_platform.ledger.roles import RoleSessions
from autotune_platform.outbound.connections import connection_pool
from tests.unit.ledger.asking import KEY, connection, question


class _NoRoles:
    def assume_role(self, **asked: Any) -> dict[str, Any]:
        raise AssertionError(f"only Bedrock has roles: {asked}")


NO_ROLES = RoleSessions(sts=_NoRoles())
SAID = {"choices": [{"message": {"content": "blue"}, "finish_reason": "stop"}], "model": "m"}


@dataclass
class Provider:
    """A server that reads a request and leaves the connection to ``behaviour``."""

    listener: socket.socket
    behaviour: Callable[[socket.socket], None]
    requests: list[tuple[bytes, bytes]] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.listener.getsockname()[1]}/v1"

    def serve(self) -> None:
        with suppress(OSError):
            while True:
                connected, _ = self.listener.accept()
                threading.Thread(target=self._answer, args=[connected], daemon=True).start()

    def _answer(self, connected: socket.socket) -> None:
        with connected, suppress(OSError):
            while request := self._read(connected):
                self.requests.append(request)
                self.behaviour(connected)

    def _read(self, connected: socket.socket) -> tuple[bytes, bytes] | None:
        received = b""
        while b"\r\n\r\n" not in received:
            more = connected.recv(65_536)
            if not more:
                return None
            received += more
        head, _, body = received.partition(b"\r\n\r\n")
        length = next(
            int(line.split(b":")[1])
            for line in head.split(b"\r\n")
            if line.lower().startswith(b"content-length:")
        )
        while len(body) < length:
            body += connected.recv(65_536)
        return head, body


@contextmanager
def provider(behaviour: Callable[[socket.socket], None]) -> Iterator[Provider]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        made = Provider(listener, behaviour)
        thread = threading.Thread(target=made.serve, daemon=True)
        thread.start()
        yield made
        made.over.set()
        listener.shutdown(socket.SHUT_RDWR)
    thread.join(5)


@pytest.fixture
def calls() -> Iterator[ModelCalls]:
    with connection_pool(admit_private=True) as pool:
        yield ModelCalls(pool, NO_ROLES)


def answering(document: Any, status: int = 200, *headers: str) -> Callable[[socket.socket], None]:
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", *headers, "", ""]
    return lambda connected: connected.sendall("\r\n".join(lines).encode() + body)


def ask(calls: ModelCalls, url: str, seconds: int = 5, key: str | None = KEY) -> Outcome:
    at = connection("simulated", base_url=url, timeout_seconds=seconds)
    return calls.ask(at, key, question())


def refused(found: Outcome) -> Refusal:
    assert isinstance(found, Refusal), found
    return found


def test_one_question_is_one_post_and_its_answer(calls: ModelCalls) -> None:
    with provider(answering(SAID)) as there:
        found = ask(calls, there.url)
        again = ask(calls, there.url, key=None)
    assert isinstance(found, Answer)
    assert (found.text, found.served_model) == ("blue", "m")
    assert again == found
    (head, body), (keyless, _) = there.requests
    assert head.startswith(b"POST /v1/chat/completions HTTP/1.1\r\n")
    lines = head.lower().split(b"\r\n")
    assert f"authorization: bearer {KEY}".encode() in lines
    assert b"accept-encoding: identity" in lines
    assert json.loads(body)["messages"][1]["content"] == "Name a colour."
    assert b"authorization" not in keyless.lower()


def test_an_answer_that_comes_too_late_may_be_paid(calls: ModelCalls) -> None:
    def silent(_: socket.socket) -> None:
        there.over.wait(60)

    with provider(silent) as there:
        started = time.monotonic()
        found = refused(ask(calls, there.url, seconds=1))
        assert time.monotonic() - started < 20
    assert (found.code, found.may_be_paid) == ("outcome_unclear", True)
    assert found.message == "the provider did not answer within 1 s"
    assert len(there.requests) == 1


def test_an_answer_that_drips_ends_in_time(calls: ModelCalls) -> None:
    def dripping(connected: socket.socket) -> None:
        connected.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        while not there.over.wait(0.1):
            connected.sendall(b" ")

    with provider(dripping) as there:
        started = time.monotonic()
        found = refused(ask(calls, there.url, seconds=1))
        assert time.monotonic() - started < 20
    assert (found.code, found.may_be_paid) == ("outcome_unclear", True)


def reset(connected: socket.socket) -> None:
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connected.close()


def hang_up(connected: socket.socket) -> None:
    connected.shutdown(socket.SHUT_RDWR)


def cut(connected: socket.socket) -> None:
    connected.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"choices":')
    hang_up(connected)


def babble(connected: socket.socket) -> None:
    connected.sendall(b"220 mail.example ESMTP\r\n\r\n")
    hang_up(connected)


@pytest.mark.parametrize("behaviour", [reset, hang_up, cut, babble])
def test_a_connection_that_breaks_after_the_question_may_be_paid(
    calls: ModelCalls, behaviour: Callable[[socket.socket], None]
) -> None:
    with provider(behaviour) as there:
        found = refused(ask(calls, there.url))
    assert (found.code, found.may_be_paid) == ("outcome_unclear", True)
    assert len(there.requests) == 1, "asked once, whatever happens"


def test_nobody_there_is_not_paid(calls: ModelCalls) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    for url in (f"http://127.0.0.1:{port}/v1", "http://nobody.invalid/v1"):
        found = refused(ask(calls, url))
        assert (found.code, found.may_be_paid) == ("provider_error", False)


def test_a_question_that_was_not_sent_whole_is_not_paid(calls: ModelCalls) -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}/v1"
        at = connection("simulated", base_url=url, timeout_seconds=1)
        asked = question(system="x" * 30_000_000)
        found = refused(calls.ask(at, KEY, asked))
    assert (found.code, found.may_be_paid) == ("provider_error", False)


def test_waiting_for_a_free_connection_is_not_paid() -> None:
    def silent(_: socket.socket) -> None:
        there.over.wait(10)

    with connection_pool(admit_private=True) as pool, provider(silent) as there:
        pool._max_connections = 1
        one = ModelCalls(pool, NO_ROLES)
        first = threading.Thread(target=ask, args=[one, there.url, 30])
        first.start()
        while not there.requests:
            time.sleep(0.01)
        found = refused(ask(one, there.url, seconds=1))
        assert (found.code, found.may_be_paid) == ("provider_error", False)
        assert len(there.requests) == 1
        there.over.set()
        first.join(10)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_key_follows_no_redirect(calls: ModelCalls, status: int) -> None:
    with (
        provider(answering(SAID)) as elsewhere,
        provider(answering(b"", status, f"Location: {elsewhere.url}/chat/completions")) as there,
    ):
        found = refused(ask(calls, there.url))
    assert (found.code, found.may_be_paid) == ("rejected", False)
    assert elsewhere.requests == []


def test_an_answer_without_end_is_cut_and_was_paid(calls: ModelCalls) -> None:
    sent = []

    def endless(connected: socket.socket) -> None:
        connected.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")
        for megabyte in range(1_000):
            connected.sendall(b" " * 1_000_000)
            sent.append(megabyte)

    with provider(endless) as there:
        found = refused(ask(calls, there.url, seconds=30))
    assert (found.code, found.may_be_paid) == ("result_malformed", True)
    assert str(MAX_ANSWER_BYTES) in found.message
    assert len(sent) < 100


def test_an_error_is_one_however_its_body_ends(calls: ModelCalls) -> None:
    def cut_error(connected: socket.socket) -> None:
        connected.sendall(b"HTTP/1.1 429 X\r\nRetry-After: 9\r\nContent-Length: 99\r\n\r\n{")
        hang_up(connected)

    def endless_error(connected: socket.socket) -> None:
        connected.sendall(b"HTTP/1.1 400 X\r\nContent-Length: 1000000000\r\n\r\n")
        for _ in range(1_000):
            connected.sendall(b" " * 1_000_000)

    with provider(cut_error) as there:
        limited = refused(ask(calls, there.url))
    assert (limited.code, limited.retry_after_seconds) == ("rate_limited", 9)
    assert not limited.may_be_paid
    with provider(endless_error) as there:
        rejected = refused(ask(calls, there.url, seconds=30))
    assert (rejected.code, rejected.may_be_paid) == ("rejected", False)


@pytest.mark.parametrize(
    ("status", "may_be_paid"), [(500, False), (502, False), (503, False), (504, True), (524, True)]
)
def test_an_answered_failure_is_paid_only_where_the_work_went_on(
    calls: ModelCalls, status: int, may_be_paid: bool
) -> None:
    with provider(answering(b"<html>", status)) as there:
        found = refused(ask(calls, there.url))
    assert (found.code, found.may_be_paid) == ("provider_error", may_be_paid)


def test_a_server_that_echoes_the_key_is_not_believed(calls: ModelCalls) -> None:
    def echoing(connected: socket.socket) -> None:
        head, _ = there.requests[-1]
        status = 401 if len(there.requests) == 1 else 200
        told = head.decode()
        document = {
            "error": {"message": told} if status == 401 else None,
            "choices": [{"message": {"content": told}}],
        }
        answering(document, status)(connected)

    with provider(echoing) as there:
        denied = refused(ask(calls, there.url))
        answered = ask(calls, there.url)
    assert denied.code == "account"
    assert "Bearer [key]" in denied.message
    assert KEY not in denied.message
    assert isinstance(answered, Answer)
    assert "Bearer [key]" in answered.text
    assert KEY not in answered.text


def test_private_addresses_are_refused() -> None:
    with connection_pool(admit_private=False) as pool, provider(answering(SAID)) as there:
        found = refused(ask(ModelCalls(pool, NO_ROLES), there.url))
    assert (found.code, found.may_be_paid) == ("address_refused", False)
    assert there.requests == []


@pytest.mark.parametrize("key", ["a\r\nx: y", "a\x00b"])
def test_a_key_that_is_no_header_is_not_sent(calls: ModelCalls, key: str) -> None:
    with provider(answering(SAID)) as there:
        found = refused(ask(calls, there.url, key=key))
    assert (found.code, found.may_be_paid) == ("rejected", False)
    assert there.requests == []
