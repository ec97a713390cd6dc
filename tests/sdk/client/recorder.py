"""A loopback server that notes what it is sent and answers from a script; both flavours call it."""

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from autotune import AsyncAutotuneClient, AutotuneClient

TASK = {
    "id": "task_" + "0" * 26,
    "organizationId": "org_1",
    "name": "n",
    "description": "",
    "promptTemplate": "",
    "metadata": {},
    "shareIdentity": False,
    "createdAt": "2026-11-22T00:00:00Z",
    "updatedAt": "2026-11-22T00:00:00Z",
}


@dataclass(frozen=True)
class Answer:
    document: dict[str, Any] = field(default_factory=lambda: {"task": TASK})
    status: int = 200
    after_seconds: float = 0.0


@dataclass
class Recorder:
    """Answers in order; the last answer stays."""

    base_url: str = ""
    answers: list[Answer] = field(default_factory=lambda: [Answer()])
    paths: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    bodies: list[Any] = field(default_factory=list)

    def next_answer(self) -> Answer:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@contextmanager
def serve_recorder() -> Iterator[Recorder]:
    recorder = Recorder()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            recorder.paths.append(self.path)
            recorder.headers.append({name.lower(): value for name, value in self.headers.items()})
            recorder.bodies.append(json.loads(body) if body else None)
            answer = recorder.next_answer()
            time.sleep(answer.after_seconds)
            content = json.dumps(answer.document).encode()
            self.send_response(answer.status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_PATCH = do_GET  # noqa: N815 - names of http.server

        def log_message(self, *args):
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request, client_address):
            """A client that went away in time is what some tests want."""

    with Server(("127.0.0.1", 0), Handler) as server:
        recorder.base_url = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield recorder
        finally:
            server.shutdown()


def use_blocking(base_url, use, **settings):
    """Return what ``use(client)`` returns; all of it where that is an iterator."""
    with AutotuneClient(base_url=base_url, api_key="key_1.cafe", **settings) as client:
        result = use(client)
        return list(result) if hasattr(result, "__next__") else result


def use_asyncio(base_url, use, **settings):
    """Do as ``use_blocking`` on an event loop."""

    async def run():
        async with AsyncAutotuneClient(
            base_url=base_url, api_key="key_1.cafe", **settings
        ) as client:
            result = use(client)
            if hasattr(result, "__anext__"):
                return [item async for item in result]
            return await result

    return asyncio.run(run())
