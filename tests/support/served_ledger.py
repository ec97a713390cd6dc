"""The ledger's API on loopback, by the protocol's own models; requests end as a test says.

It keeps the promises that clients build on: what a key enqueued once, it enqueues no more; a read
with ``wait`` is held until the request has ended; lists come in pages, the youngest first.
"""

import json
import re
import sys
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from pydantic import ValidationError

from autotune.protocol.problems import field_problems
from tests.support.http_faults import Answer, Fault, Received, canned
from tests.support.served_answers import RefusedError, problem
from tests.support.served_batches import ServedBatches
from tests.support.served_connections import ServedConnections
from tests.support.served_imports import ServedImports
from tests.support.served_rows import ServedRows

_PREFIX = "/api/v1"
_ROUTES = [
    ("POST", "/llm-imports", "_create_import"),
    ("PUT", "/files/([^/]+)", "_upload"),
    ("POST", "/llm-imports/([^/]+)/start", "_start_import"),
    ("GET", "/llm-imports", "_list_imports"),
    ("GET", "/llm-imports/([^/]+)", "_read_import"),
    ("DELETE", "/llm-imports/([^/]+)", "_delete_import"),
    ("POST", "/llm-connections", "_create"),
    ("GET", "/llm-connections", "_list_connections"),
    ("GET", "/llm-connections/([^/]+)", "_read_connection"),
    ("PATCH", "/llm-connections/([^/]+)", "_update"),
    ("DELETE", "/llm-connections/([^/]+)", "_revoke"),
    ("POST", "/llm-connections/([^/]+)/verify", "_verify"),
    ("POST", "/llm-requests/batch", "_enqueue"),
    ("GET", "/llm-requests", "_list_rows"),
    ("GET", "/llm-requests/([^/]+)", "_read_row"),
    ("POST", "/llm-requests/cancel", "_cancel_matching"),
    ("POST", "/llm-requests/retry", "_retry_matching"),
    ("POST", "/llm-requests/parse", "_parse_matching"),
    ("POST", "/llm-requests/delete-content", "_erase_matching"),
    ("POST", "/llm-requests/([^/]+)/parse", "_parse_row"),
    ("GET", "/llm-requests/([^/]+)/parses", "_list_parses"),
    ("POST", "/llm-requests/([^/]+)/cancel", "_cancel_row"),
    ("POST", "/llm-requests/([^/]+)/retry", "_retry_row"),
    ("DELETE", "/llm-requests/([^/]+)/content", "_erase"),
    ("GET", "/llm-batches", "_list_batches"),
    ("GET", "/llm-batches/([^/]+)", "_read_batch"),
    ("GET", "/llm-batches/([^/]+)/rows", "_batch_rows"),
    ("POST", "/llm-batches/([^/]+)/cancel", "_cancel_batch"),
    ("POST", "/llm-batches/([^/]+)/resolve", "_resolve_batch"),
    ("GET", "/llm-costs", "_costs"),
    ("POST", "/llm-estimates", "_estimate"),
    ("GET", "/llm-budget", "_budget"),
    ("PUT", "/llm-budget", "_set_budget"),
]


class ServedLedger(ServedConnections, ServedRows, ServedBatches, ServedImports):
    """Notes what it receives."""

    api_key = "key_" + "0" * 26 + "." + "ab" * 32

    def __init__(self, port: int) -> None:
        super().__init__()
        self.base_url = f"http://127.0.0.1:{port}"
        self.received: list[Received] = []
        self.faults: deque[Fault] = deque()

    def misbehave(self, *faults: Fault) -> None:
        self.faults.extend(faults)

    def count(self, where: str) -> int:
        return sum(1 for one in self.received if re.search(where, f"{one.method} {one.path}"))

    def answer(self, request: Received) -> Answer:
        with self.changed:
            self.received.append(request)
            fault = next(
                (
                    one
                    for one in self.faults
                    if re.search(one.where, f"{request.method} {request.path}")
                ),
                None,
            )
            if fault is not None:
                self.faults.remove(fault)
        if fault is not None and fault.status is not None:
            return canned(fault, request)
        headers = {"content-type": "application/json"}
        if request.path.startswith("/reports/"):
            return Answer(200, self.report_of(request.path.removeprefix("/reports/")))
        try:
            document = self._route(request)
        except ValidationError as error:
            found = RefusedError(422, "invalid_request", "invalid", field_problems(error))
            return problem(found, request)
        except RefusedError as error:
            return problem(error, request)
        if document is None:
            return Answer(204)
        if document.pop("replayed", False):
            headers["idempotent-replayed"] = "true"
        status = 202 if "requestIds" in document else 200
        return Answer(status, json.dumps(document).encode(), headers)

    def _route(self, request: Received) -> dict[str, Any] | None:
        query = {name: one[0] for name, one in parse_qs(request.query).items()}
        path = request.path.removeprefix(_PREFIX)
        for method, pattern, name in _ROUTES:
            matched = re.fullmatch(pattern, path)
            if method == request.method and matched:
                handle = getattr(self, name)
                ids = [unquote(one) for one in matched.groups()]
                if name in ("_enqueue", "_create_import"):
                    keyed: dict[str, Any] = handle(request.body, request.headers["idempotency-key"])
                    return keyed
                found: dict[str, Any] | None = handle(*ids, request.body, query)
                return found
        raise RefusedError(404, "not_found", f"no route {request.method} {path}")


@contextmanager
def serve_ledger() -> Iterator[ServedLedger]:
    """Serve an empty ledger until the block is left."""
    errors: list[BaseException] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1
        disable_nagle_algorithm = True

        def handle_any(self) -> None:
            target = urlsplit(self.path)
            answer = ledger.answer(
                Received(
                    method=self.command,
                    path=target.path,
                    query=target.query,
                    headers={name.lower(): value for name, value in self.headers.items()},
                    body=self.rfile.read(int(self.headers.get("content-length") or 0)),
                )
            )
            self.send_response_only(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            if answer.status != 204:
                self.send_header("content-length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any  # noqa: N815

        def log_message(self, *args: Any) -> None:
            """Quiet."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        block_on_close = False

        def handle_error(self, request: Any, client_address: Any) -> None:
            """Keep what went wrong, but for clients that hang up: they are part of the tests."""
            error = sys.exception()
            if error is not None and not isinstance(error, ConnectionError):
                errors.append(error)

    with Server(("127.0.0.1", 0), Handler) as server:
        ledger = ServedLedger(server.server_address[1])
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        try:
            yield ledger
        finally:
            server.shutdown()
    if errors:
        raise errors[0]
