"""Checks of graders that answer later."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from pydantic import ValidationError

from autotune.grader.conformance.session import CheckFailedError, Exchange, GraderSession
from autotune.protocol.callbacks import CallbackReceipt
from autotune.protocol.grading import DeferredResponse, ScoreResponse
from autotune.protocol.limits import MAX_GRADER_RESPONSE_BYTES
from autotune.protocol.signing import SignatureError

_LONGEST_WAIT_SECONDS = 60.0


def deferral_kept(session: GraderSession) -> str:
    """Asked with a callbackUrl, it answers a signed 202 and calls back, or scores at once."""
    session.first_score()
    with _callback_receiver(session.is_local) as received:
        exchange = session.score(callbackUrl=received.url)
        if exchange.status != 202:
            return "it did not defer its answer"
        promise = _read_promise(exchange)
        _verify(session, exchange)
        if not session.is_local:
            return "it promised to answer; only a grader on this machine can call this check back"
        if not received.arrived.wait(_LONGEST_WAIT_SECONDS):
            estimate = promise.estimated_seconds
            if estimate is not None and estimate >= _LONGEST_WAIT_SECONDS:
                return f"it promised to answer in {estimate:g} s, which is not waited for"
            raise CheckFailedError(f"no answer came within {_LONGEST_WAIT_SECONDS:g} s of its 202")
    _verify(session, exchange, received)
    try:
        answer = ScoreResponse.model_validate_json(received.body)
    except ValidationError:
        raise CheckFailedError("what it sent later is not an answer to POST /score") from None
    if answer.request_id != exchange.request_id:
        raise CheckFailedError("what it sent later is about another request")
    if answer.error is not None:
        raise CheckFailedError("it promised to answer, and failed")
    return "it answered 202, and later with a signed score"


def _read_promise(exchange: Exchange) -> DeferredResponse:
    try:
        promise = DeferredResponse.model_validate_json(exchange.response.content)
    except ValidationError:
        raise CheckFailedError("the 202 lacks requestId or graderVersion") from None
    if promise.request_id != exchange.request_id:
        raise CheckFailedError("the 202's requestId is not the request's")
    return promise


def _verify(session: GraderSession, exchange: Exchange, later: "_Received | None" = None) -> None:
    try:
        if later is None:
            exchange.verify(session.secrets)
        else:
            exchange.verify(session.secrets, headers=later.headers, body=later.body)
    except SignatureError as error:
        raise CheckFailedError(f"{error}") from None


class _Received:
    """The first answer that was sent to the check's own callback URL."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.arrived = threading.Event()
        self.body = b""
        self.headers: dict[str, str] = {}


@contextmanager
def _callback_receiver(is_local: bool) -> Iterator[_Received]:
    """Listen for a callback on loopback, where the grader can reach that."""
    if not is_local:
        # A name that is reserved for such use (RFC 6761): the grader's callback goes nowhere.
        yield _Received("https://autotune.invalid/api/v1/callbacks/check")
        return
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Receiver)
    received = _Received(f"http://127.0.0.1:{server.server_port}/callback")
    server.received = received  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield received
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Receiver(BaseHTTPRequestHandler):
    """Takes answers, and lets signs of life pass."""

    def do_POST(self) -> None:
        """Keep the first answer, and acknowledge it as Autotune does."""
        received: _Received = self.server.received  # type: ignore[attr-defined]
        size = int(self.headers.get("content-length", 0))
        body = self.rfile.read(min(size, MAX_GRADER_RESPONSE_BYTES))
        if urlsplit(self.path).path == "/callback" and not received.arrived.is_set():
            received.body, received.headers = body, dict(self.headers.items())
            received.arrived.set()
        receipt = CallbackReceipt.model_validate(
            {"requestId": "req_check", "answeredAt": "2026-01-01T00:00:00Z"}
        )
        answer = receipt.model_dump_json(by_alias=True).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        """Log nothing: the check's own result is enough."""
