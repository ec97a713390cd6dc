"""OpenAI's batch API over HTTP on loopback, with real handlers and a fake provider behind it.

``python -m tests.support.served_compatible`` prints its port and a token, and serves until it is
ended. ``POST /_run`` has what was begun asked; ``POST /_lose`` loses the next answer to a creation.
"""

import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.support.compatible import Compatible, stored
from tests.support.imports import Imports
from tests.support.lambdas import Answer
from tests.support.ledger import ledger
from tests.support.platform import platform


def serve(compatible: Compatible) -> None:
    """Serve until the process is ended."""
    losing: list[bool] = []
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
            if path == "/_run":
                compatible.run()
                return Answer(200, {}, "")
            if path == "/_lose":
                losing.append(True)
                return Answer(200, {}, "")
            if path.startswith("/exports/"):  # where S3 is: it refuses two authorisations
                assert "authorization" not in self.headers or not query
                return Answer(200, {}, stored(path).decode())
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = compatible.ledger.platform.pass_on(self.command, path, query, headers, body)
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
        sys.stdout.write(f"{port} {compatible.token}\n")
        sys.stdout.flush()
        server.serve_forever()


def main() -> None:
    """Serve an empty ledger with one token."""
    with (
        pytest.MonkeyPatch.context() as monkeypatch,
        platform(monkeypatch) as made,
        ledger(made) as asked,
    ):
        serve(Compatible(asked, Imports(asked)))


if __name__ == "__main__":
    main()
