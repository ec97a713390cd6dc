"""Graders on loopback, healthy or sick, speaking the protocol without the grader SDK."""

import json
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from autotune.protocol.grading import VERIFICATION_METADATA
from autotune.protocol.signing import (
    SIGNATURE_HEADER,
    SignatureError,
    sign_grader_response,
    verify_grader_request,
)

Answer = dict[str, Any]


@dataclass
class Exchange:
    """One request on its way to an answer; a disease changes any part of it."""

    path: str
    request_id: str
    request_body: bytes
    answer: Answer
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    sign: bool = True
    secret: str | None = None
    signed_request_body: bytes | None = None
    signed_request_id: str | None = None
    delay_seconds: float = 0
    drip_seconds: float = 0
    drop: bool = False

    @property
    def items(self) -> list[Answer]:
        """The judgements in the answer, single or batch."""
        return self.answer.get("scores", [self.answer])


Disease = Callable[[Exchange], None]


def healthy(_: Exchange) -> None:
    """Change nothing."""


def answering(**changes: Any) -> Disease:
    """Set fields of the exchange: status, body, secret, delay and the like."""

    def disease(exchange: Exchange) -> None:
        for name, value in changes.items():
            setattr(exchange, name, value)

    return disease


def deferring(exchange: Exchange) -> None:
    """Answer 202, and leave the score to a callback."""
    exchange.status = 202
    exchange.answer = {
        "requestId": exchange.request_id,
        "graderVersion": exchange.answer["graderVersion"],
        "estimatedSeconds": 60,
    }


def scoring(value: object) -> Disease:
    """Score everything with a value, which may be none."""

    def disease(exchange: Exchange) -> None:
        for item in exchange.items:
            if "score" in item:
                item["score"]["value"] = value

    return disease


def unavailable_for(whom: Callable[[Answer], bool]) -> Disease:
    """Answer 503, which is asked again, to the question about one of these completions."""

    def disease(exchange: Exchange) -> None:
        if whom(json.loads(exchange.request_body)["completion"]):
            exchange.status = 503

    return disease


@dataclass(frozen=True, kw_only=True)
class Callback:
    """What a grader sends later."""

    url: str
    body: bytes
    headers: dict[str, str]


def is_of_verification(asked: Answer) -> bool:
    """Whether this is the question that a verification asks, which no run has asked."""
    return VERIFICATION_METADATA in (asked.get("completion", {}).get("metadata") or {})


@dataclass
class LoopbackGrader:
    """A grader that gives every completion the value in its metadata, or 0.5.

    Questions of verification are kept apart, and have a disease of their own.
    """

    url: str
    secret: str = ""
    version: str = "1.0.0"
    disease: Disease = healthy
    health_disease: Disease = healthy
    question_disease: Disease = healthy
    refuses_strangers: bool = True
    health: Answer = field(default_factory=dict)
    requests: list[tuple[str, Answer]] = field(default_factory=list)
    signatures: list[str] = field(default_factory=list)
    connections: int = 0
    bodies: list[bytes] = field(default_factory=list)
    verifications: list[Answer] = field(default_factory=list)

    def judge(self, completion: Answer) -> Answer:
        metadata = completion.get("metadata") or {}
        if metadata.get("abstain"):
            return {"abstained": True}
        return {"score": {"value": metadata.get("value", 0.5), "confidence": 0.9}}

    def answer(self, path: str, request_id: str, body: bytes) -> Answer:
        if path == "/health":
            return {"status": "healthy", "version": self.version, **self.health}
        asked = json.loads(body)
        if is_of_verification(asked):
            self.verifications.append(asked)
            return self.scores(path, request_id, asked)
        self.requests.append((path, asked))
        self.bodies.append(body)
        return self.scores(path, request_id, asked)

    def scores(self, path: str, request_id: str, asked: Answer) -> Answer:
        """Return the whole answer to a request for scores."""
        head = {"requestId": request_id, "graderVersion": self.version, "processingTimeMs": 1}
        if path == "/score":
            return {**head, **self.judge(asked["completion"])}
        scores = [{"completionId": one["id"], **self.judge(one)} for one in asked["completions"]]
        return {**head, "scores": scores}

    def callback(
        self,
        place: int = -1,
        *,
        answer: Answer | None = None,
        heartbeat: bool = False,
        secret: str | None = None,
    ) -> Callback:
        """Return what answers one of the requests that came, later.

        Args:
            place: of the request among all that came.
            answer: instead of what this grader would say.
            secret: sign with this instead of the grader's own.
        """
        path, asked = self.requests[place]
        request_id = asked["requestId"]
        said = {"requestId": request_id} if heartbeat else self.scores(path, request_id, asked)
        body = json.dumps(said if answer is None else answer).encode()
        headers = sign_grader_response(
            [secret or self.secret],
            request_id=request_id,
            request_body=self.bodies[place],
            body=body,
        )
        url = asked["callbackUrl"] + ("/heartbeat" if heartbeat else "")
        return Callback(url=url, body=body, headers=headers)

    @property
    def asked_ids(self) -> list[str]:
        """Every completion id that this grader was asked about, in order."""
        return [
            one["id"]
            for _, asked in self.requests
            for one in asked.get("completions", [asked.get("completion")])
        ]


class _Handler(BaseHTTPRequestHandler):
    """Answers for the grader of its server."""

    protocol_version = "HTTP/1.1"
    # Headers and body would otherwise wait for each other's acknowledgement.
    disable_nagle_algorithm = True

    @property
    def grader(self) -> LoopbackGrader:
        return self.server.grader  # type: ignore[attr-defined, no-any-return]

    def do_GET(self) -> None:
        self._respond()

    def do_POST(self) -> None:
        self._respond()

    def log_message(self, *_: object) -> None:
        pass

    def _respond(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        request_id = self._admitted(body)
        if request_id is None:
            self._send(401, {}, b"{}")
            return
        exchange = Exchange(
            path=self.path,
            request_id=request_id,
            request_body=body,
            answer=self.grader.answer(self.path, request_id, body),
        )
        if self.path == "/health":
            self.grader.health_disease(exchange)
        elif is_of_verification(json.loads(body)):
            self.grader.question_disease(exchange)
        else:
            self.grader.disease(exchange)
        time.sleep(exchange.delay_seconds)
        if exchange.drop:
            self.close_connection = True
            return
        self._send(exchange.status, *self._signed(exchange), drip_seconds=exchange.drip_seconds)

    def _admitted(self, body: bytes) -> str | None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.grader.signatures += headers.get(SIGNATURE_HEADER, "").split()
        try:
            return verify_grader_request(headers, body, [self.grader.secret])
        except SignatureError:
            if self.grader.refuses_strangers:
                return None
            return headers.get("x-autotune-request-id", "unsigned")

    def _signed(self, exchange: Exchange) -> tuple[dict[str, str], bytes]:
        sent = exchange.body if exchange.body is not None else json.dumps(exchange.answer).encode()
        if not exchange.sign:
            return exchange.headers, sent
        signature = sign_grader_response(
            [exchange.secret or self.grader.secret],
            request_id=exchange.signed_request_id or exchange.request_id,
            request_body=exchange.signed_request_body or exchange.request_body,
            body=sent,
        )
        return {**exchange.headers, **signature}, sent

    def _send(
        self, status: int, headers: dict[str, str], body: bytes, *, drip_seconds: float = 0
    ) -> None:
        # Whoever asked may have given up on the answer, or been killed.
        with suppress(ConnectionError):
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            if not drip_seconds:
                self.wfile.write(body)
                return
            for byte in body:
                self.wfile.write(bytes([byte]))
                time.sleep(drip_seconds)


class _Server(ThreadingHTTPServer):
    """Counts its connections."""

    daemon_threads = True

    def process_request(self, request: Any, client_address: Any) -> None:
        self.grader.connections += 1  # type: ignore[attr-defined]
        super().process_request(request, client_address)


@contextmanager
def loopback_grader(
    *,
    tls: ssl.SSLContext | None = None,
    poll_interval: float = 0.02,
    kind: type[LoopbackGrader] = LoopbackGrader,
    **options: Any,
) -> Iterator[LoopbackGrader]:
    """Run a grader on a free port for as long as the context lasts, over TLS if told how.

    Its end takes up to ``poll_interval`` seconds; many that poll often keep a processor busy.
    """
    server = _Server(("127.0.0.1", 0), _Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    scheme = "http" if tls is None else "https"
    grader = kind(url=f"{scheme}://127.0.0.1:{server.server_port}", **options)
    server.grader = grader  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, args=(poll_interval,))
    thread.start()
    try:
        yield grader
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
