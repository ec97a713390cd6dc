"""The fake's HTTP server: http.server, because traps end and stall connections in mid-answer."""

import signal
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.providers.app import App
from tests.providers.state import World
from tests.providers.wire import Answer, Request

LOOPBACK = "127.0.0.1"
_RESET = struct.pack("ii", 1, 0)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body leave together and at once, or each answer waits 40 ms for an acknowledgement.
    disable_nagle_algorithm = True
    wbufsize = -1
    server: "FakeServer"

    def handle_any(self) -> None:
        request = Request(
            method=self.command,
            target=self.path,
            headers={name.lower(): value for name, value in self.headers.items()},
            body=self._body(),
            base_url=f"http://{self.headers.get('host', self.server.base_url[7:])}",
        )
        self._send(self.server.app.answer(request))

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_PATCH = handle_any  # noqa: N815 - http.server's

    def handle_expect_100(self) -> bool:
        """Asks for the body at once: boto3 waits a second for this."""
        asked = super().handle_expect_100()
        self.wfile.flush()
        return asked

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            return b"".join(self._chunks())
        return self.rfile.read(int(self.headers.get("content-length") or 0))

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline().split(b";")[0], 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass

    def _send(self, answer: Answer) -> None:
        if answer.delay_seconds:
            self.server.stopping.wait(answer.delay_seconds)
        if answer.drop:
            self._abort()
            return
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(answer.body)))
        self.end_headers()
        end = answer.cut_at if answer.cut_at is not None else answer.stall_at
        if self.command != "HEAD":
            self.wfile.write(answer.body[:end])
        self.wfile.flush()
        if answer.stall_at is not None:
            self.server.stopping.wait(answer.stall_seconds)
        if end is not None:
            self._abort()

    def _abort(self) -> None:
        """Ends the connection so that the other side sees a reset, as when a process dies."""
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)

    def log_message(self, *_: Any) -> None:
        pass


class FakeServer(ThreadingHTTPServer):
    """Serves one world on loopback; port 0 takes any that is free."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, world: World, port: int = 0) -> None:
        super().__init__((LOOPBACK, port), _Handler)
        self.world = world
        self.app = App(world)
        self.stopping = threading.Event()

    @property
    def base_url(self) -> str:
        return f"http://{LOOPBACK}:{self.server_address[1]}"

    def handle_error(self, *_: Any) -> None:
        """Clients go away in time, which is what some tests want."""


@contextmanager
def serve(world: World | None = None, port: int = 0) -> Iterator[FakeServer]:
    """Runs the fake in a thread; its world is at hand as ``server.world``."""
    server = FakeServer(world or World(), port)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.stopping.set()
        server.shutdown()
        server.server_close()
        thread.join(5)


def serve_until_stopped(world: World, port: int = 0) -> None:
    """Runs the fake as this process, which prints where it is, until a signal ends it."""
    server = FakeServer(world, port)
    stop = threading.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda *_: stop.set())
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    print(f"serving {server.base_url}", flush=True)
    stop.wait()
    server.stopping.set()
    server.shutdown()
