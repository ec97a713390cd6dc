"""Subscribers to webhooks on loopback: one is well, one fails now and then, one is slow."""

import json
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from standardwebhooks import Webhook
from standardwebhooks.webhooks import WebhookVerificationError

from autotune import AutotuneClient
from autotune.protocol.events import EventType
from tests.chaos.diseases import POLL_SECONDS

FLAKY_SHARE = 0.1
SLOW_SECONDS = 0.5


@dataclass(frozen=True)
class Received:
    """One call of a webhook with a signature that holds."""

    event_id: str
    body: str

    @property
    def type(self) -> str:
        """What kind of event it tells of."""
        return str(json.loads(self.body)["event"])

    @property
    def data(self) -> dict[str, Any]:
        """What it says of it."""
        data: dict[str, Any] = json.loads(self.body)["data"]
        return data


@dataclass
class Subscriber:
    """Notes every event that it is told of, whatever it answers then.

    Attributes:
        fails: share of the calls that it answers with 500, although it has noted them.
        event_types: what it asks for; the slow one asks for little.
        forged: calls whose signature did not hold.
    """

    name: str
    draw: random.Random
    fails: float = 0
    delay_seconds: float = 0
    event_types: Sequence[EventType] = ("score.completed", "batch.completed")
    url: str = ""
    secret: str = ""
    received: list[Received] = field(default_factory=list)
    forged: int = 0
    failed: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def subscribe(self, client: AutotuneClient) -> None:
        """Ask to be told of events from now on."""
        created = client.webhooks.create(url=self.url, event_types=self.event_types)
        self.secret = created.secret

    def told(self) -> Counter[str]:
        """Return how many events of each type it was told of, repeats not counted."""
        with self.lock:
            return Counter(
                one.type for one in {one.event_id: one for one in self.received}.values()
            )

    def so_far(self) -> "Subscriber":
        """Return the same as it is now: what it is told from now on is not in it."""
        with self.lock:
            return replace(self, received=list(self.received), lock=threading.Lock())

    def take(self, headers: dict[str, str], body: bytes) -> int:
        """Note a call; return the status to answer."""
        try:
            Webhook(self.secret).verify(body, headers)
        except WebhookVerificationError:
            with self.lock:
                self.forged += 1
            return 401
        with self.lock:
            self.received.append(Received(headers["webhook-id"], body.decode()))
            fails = self.draw.random() < self.fails
            self.failed += fails
        time.sleep(self.delay_seconds)
        return 500 if fails else 204


class _Handler(BaseHTTPRequestHandler):
    """Answers for the subscriber of its server."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        subscriber: Subscriber = self.server.subscriber  # type: ignore[attr-defined]
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.send_response(subscriber.take(headers, body))
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def audience(seed: int) -> Iterator[list[Subscriber]]:
    """Run the subscribers; each still has to subscribe."""
    subscribers = [
        Subscriber("healthy", random.Random(seed)),
        Subscriber("flaky", random.Random(seed + 1), fails=FLAKY_SHARE),
        Subscriber(
            "slow",
            random.Random(seed + 2),
            delay_seconds=SLOW_SECONDS,
            event_types=("batch.completed",),
        ),
    ]
    with ExitStack() as running:
        for subscriber in subscribers:
            running.enter_context(_served(subscriber))
        yield subscribers


@contextmanager
def _served(subscriber: Subscriber) -> Iterator[None]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    server.subscriber = subscriber  # type: ignore[attr-defined]
    subscriber.url = f"http://127.0.0.1:{server.server_port}/events"
    thread = threading.Thread(target=server.serve_forever, args=(POLL_SECONDS,))
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
