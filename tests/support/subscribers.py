"""Webhook subscribers on loopback, healthy or sick."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from standardwebhooks import Webhook


@dataclass(frozen=True)
class Received:
    """One POST as it came in."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def event_id(self) -> str:
        return self.headers["webhook-id"]

    def verified(self, secret: str) -> Any:
        """Return what it tells, once its signature is seen to be right."""
        return Webhook(secret).verify(self.body, self.headers)


@dataclass
class Reply:
    """What a subscriber answers; ``drip_seconds`` passes before each byte from the headers on."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b"ok"
    drip_headers_seconds: float = 0
    drip_body_seconds: float = 0
    drop: bool = False


@dataclass
class Subscriber:
    """Keeps what it receives and answers what ``reply`` says."""

    url: str
    reply: Callable[[Received], Reply] = lambda _: Reply()
    received: list[Received] = field(default_factory=list)

    @property
    def event_ids(self) -> list[str]:
        return [one.event_id for one in self.received]

    def answers(self, status: int, **fields: Any) -> None:
        """Answer every request with a status from now on."""
        self.reply = lambda _: Reply(status, **fields)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        subscriber: Subscriber = self.server.subscriber  # type: ignore[attr-defined]
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        received = Received(self.path, headers, body)
        subscriber.received.append(received)
        reply = subscriber.reply(received)
        if reply.drop:
            self.close_connection = True
            return
        with suppress(ConnectionError):
            self._send(reply)

    def log_message(self, *_: object) -> None:
        pass

    def _send(self, reply: Reply) -> None:
        headers = {**reply.headers, "content-length": str(len(reply.body))}
        head = f"HTTP/1.1 {reply.status} .\r\n" + "".join(
            f"{name}: {value}\r\n" for name, value in headers.items()
        )
        self._write(head.encode() + b"\r\n", reply.drip_headers_seconds)
        self._write(reply.body, reply.drip_body_seconds)

    def _write(self, sent: bytes, drip_seconds: float) -> None:
        if not drip_seconds:
            self.wfile.write(sent)
            return
        for byte in sent:
            time.sleep(drip_seconds)
            self.wfile.write(bytes([byte]))


@contextmanager
def loopback_subscriber() -> Iterator[Subscriber]:
    """Run a subscriber on a free port for as long as the context lasts."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    subscriber = Subscriber(f"http://127.0.0.1:{server.server_port}/events")
    server.subscriber = subscriber  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield subscriber
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
