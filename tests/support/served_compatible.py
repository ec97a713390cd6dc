"""OpenAI's API over HTTP on loopback, with real handlers and a fake provider behind it.

``python -m tests.support.served_compatible`` prints its port and a token, and serves until it is
ended. ``POST /_run`` has what was begun asked; ``POST /_lose`` loses the next answer to a creation;
``POST /_count`` answers how often chat completions were asked for.

With the argument ``task`` the token is of a task of the apprentice. ``POST /_exhaust`` takes the
budget's room, ``POST /_late`` has the next answer come too late, and ``POST /_run`` brings it.
"""

import sys
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import pytest
from botocore.exceptions import ReadTimeoutError

from tests.support.apprentice_runs import runs
from tests.support.compatible import Compatible, stored
from tests.support.imports import Imports
from tests.support.lambdas import Answer
from tests.support.ledger import ledger
from tests.support.platform import Platform, platform
from tests.support.task_chats import TaskChats


def serve(platform: Platform, token: str, commands: Mapping[str, Callable[[], object]]) -> None:
    """Serve until the process is ended; ``commands`` are done by path."""
    losing: list[bool] = []
    asked: list[str] = []
    known: Mapping[str, Callable[[], object]] = {
        **commands,
        "/_count": lambda: asked.count("/v1/chat/completions"),
        "/_lose": lambda: losing.append(True),
    }
    one_at_a_time = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            target = urlsplit(self.path)
            with one_at_a_time:
                answer = self._answer(target.path, target.query, body)
            self.send_response_only(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

        def _answer(self, path: str, query: str, body: bytes) -> Answer:
            if path in known:
                return Answer(200, {}, str(known[path]() or ""))
            asked.append(path)
            if path.startswith("/exports/"):  # where S3 is: it refuses two authorisations
                assert "authorization" not in self.headers or not query
                return Answer(200, {}, stored(path).decode())
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = platform.pass_on(self.command, path, query, headers, body)
            if "location" in answer.headers:
                link = urlsplit(answer.headers["location"])
                place = link.path[link.path.index("/exports/org_") :]
                answer.headers["location"] = f"http://127.0.0.1:{port}{place}"
            if losing and (self.command, path) == ("POST", "/v1/batches"):
                losing.pop()
                return Answer(503, {}, "")
            return answer

        do_GET = do_POST = do_DELETE = handle_any  # noqa: N815

        def log_message(self, *args: Any) -> None:
            """Quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        port = server.server_port
        sys.stdout.write(f"{port} {token}\n")
        sys.stdout.flush()
        server.serve_forever()


def main() -> None:
    """Serve an empty ledger with one token, of a connection or of a task."""
    with (
        pytest.MonkeyPatch.context() as monkeypatch,
        platform(monkeypatch) as made,
        ledger(made) as asked,
    ):
        if sys.argv[1:] == ["task"]:
            with runs(asked) as answered:
                answered.put()
                serve_task(TaskChats(answered))
        else:
            compatible = Compatible(asked, Imports(asked))
            serve(made, compatible.token, {"/_run": compatible.run})


def serve_task(chats: TaskChats) -> None:
    """Serve a task."""
    runs, budget = chats.runs, {"dayUsd": "0.000001"}

    def too_late(event: dict[str, Any]) -> dict[str, Any]:
        runs.worker.instead = None
        raise ReadTimeoutError(endpoint_url="lambda")

    def be_late() -> None:
        runs.worker.instead = too_late

    commands: Mapping[str, Callable[[], object]] = {
        "/_exhaust": lambda: runs.platform.call("PUT", "/api/v1/llm-budget", budget),
        "/_late": be_late,
        "/_run": runs.work,
    }
    serve(runs.platform, chats.token, commands)


if __name__ == "__main__":
    main()
