"""The ledger's API on loopback, by the protocol's own models; requests end as a test says.

It keeps the promises that clients build on: what a key enqueued once, it enqueues no more; a read
with ``wait`` is held until the request has ended; lists come in pages, the youngest first.
"""

import hashlib
import json
import re
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NoReturn
from urllib.parse import parse_qs, unquote, urlsplit

from pydantic import SecretStr, ValidationError

from autotune.protocol import (
    llm_batches,
    llm_connections,
    llm_filters,
    llm_parses,
    llm_requests,
)
from autotune.protocol.ids import derived_id, new_id
from autotune.protocol.problems import Problem, field_problems
from tests.support.http_faults import Answer, Fault, Received, canned
from tests.support.served_imports import ServedImports
from tests.support.served_parses import parse_again, parses_of

_ENDED = ("completed", "error", "canceled")
_PREFIX = "/api/v1"


class RefusedError(Exception):
    """An answer that is a problem."""

    def __init__(self, status: int, code: str, detail: str, errors: Any = ()) -> None:
        super().__init__(detail)
        self.status, self.code, self.detail, self.errors = status, code, detail, errors


class ServedLedger(ServedImports):
    """Notes what it receives.

    Attributes:
        ends: returns what a request that is enqueued becomes at once; None leaves it queued.
        held: how long each read with ``wait`` was held, in seconds.
        keys: the providers' keys by connection, as they came.
        works: whether a connection that is verified does.
    """

    api_key = "key_" + "0" * 26 + "." + "ab" * 32

    def __init__(self, port: int) -> None:
        super().__init__()
        self.base_url = f"http://127.0.0.1:{port}"
        self.received: list[Received] = []
        self.faults: deque[Fault] = deque()
        self.connections: dict[str, dict[str, Any]] = {}
        self.keys: dict[str, str] = {}
        self.rows: dict[str, dict[str, Any]] = {}
        self.enqueued: dict[str, tuple[str, list[str]]] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.limits: dict[str, Any] = {}
        self.spent = 0
        self.held: list[float] = []
        self.ends: Callable[[dict[str, Any]], dict[str, Any] | None] = lambda _: None
        self.works = True
        self._changed = threading.Condition()

    def misbehave(self, *faults: Fault) -> None:
        self.faults.extend(faults)

    def count(self, where: str) -> int:
        return sum(1 for one in self.received if re.search(where, f"{one.method} {one.path}"))

    def new_connection(self, **fields: Any) -> str:
        body = {"name": "c", "provider": "openai", "apiKey": "sk-test-0123456789", **fields}
        return str(self._create(json.dumps(body).encode(), {})["connection"]["id"])

    def end(self, row_id: str, status: str = "completed", **fields: Any) -> None:
        """End a request, with an answer unless the fields say otherwise."""
        answer = {"rawOutput": "ready", "finishReason": "stop", "costNanoUsd": 1_500}
        more = answer if status == "completed" else {"costNanoUsd": 0}
        with self._changed:
            self.rows[row_id] |= {"status": status, **more, **fields}
            self._changed.notify_all()

    def end_later(self, row_id: str, seconds: float, **fields: Any) -> None:
        timer = threading.Timer(seconds, lambda: self.end(row_id, **fields))
        timer.daemon = True
        timer.start()

    def new_batch(self, *row_ids: str, **fields: Any) -> str:
        batch_id = new_id("lbt")
        self.batches[batch_id] = {
            "id": batch_id,
            "connectionId": "llc_" + "0" * 26,
            "provider": "openai",
            "model": "m",
            "status": "submitted",
            "counts": {"rows": len(row_ids), "completed": 0},
            "reservedNanoUsd": 10,
            "costNanoUsd": 0,
            "createdAt": _now(),
            "rows": list(row_ids),
            **fields,
        }
        return batch_id

    def answer(self, request: Received) -> Answer:
        with self._changed:
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
            return _problem(found, request)
        except RefusedError as error:
            return _problem(error, request)
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

    def _create(self, body: bytes, _query: Any) -> dict[str, Any]:
        asked = llm_connections.CreateConnectionRequest.model_validate_json(body)
        found = _of(self.connections, new_id("llc"), make=True)
        found |= {
            "provider": asked.provider,
            "baseUrl": asked.base_url or "https://provider.example",
            "status": "active",
            "keyVersion": 0,
            "concurrency": 8,
            "timeoutSeconds": 120,
            "batches": "never" if asked.provider == "simulated" else "unless_urgent",
            "minRows": 20,
            "maxWaitSeconds": 300,
            "createdAt": _now(),
        }
        if asked.bedrock is not None:
            shown = asked.bedrock.model_dump(mode="json", by_alias=True)
            found |= {"bedrock": {**shown, "externalId": "org_own"}, "batches": "never"}
        return self._set(found, asked)

    def _update(self, connection_id: str, body: bytes, _query: Any) -> dict[str, Any]:
        found = _of(self.connections, connection_id)
        return self._set(found, llm_connections.UpdateConnectionRequest.model_validate_json(body))

    def _set(self, found: dict[str, Any], asked: Any) -> dict[str, Any]:
        given = asked.model_dump(mode="json", by_alias=True, exclude_none=True)
        given.pop("apiKey", None)
        given.pop("bedrock", None)
        for name in ("limits", "timings"):
            fields = getattr(asked, name)
            changed = fields.model_dump(by_alias=True, exclude_unset=True) if fields else {}
            merged = {**found.get(name, {}), **changed}
            given[name] = {one: value for one, value in merged.items() if value is not None}
        key: SecretStr | None = asked.api_key
        if key is not None:
            self.keys[found["id"]] = key.get_secret_value()
            given["keyVersion"] = found["keyVersion"] + 1
            given["keyEndsWith"] = key.get_secret_value()[-4:]
        found |= {**given, "updatedAt": _now()}
        return {"connection": _checked(llm_connections.LlmConnection, found)}

    def _list_connections(self, _body: bytes, query: dict[str, str]) -> dict[str, Any]:
        found, token = _page(list(self.connections.values()), query)
        return {"connections": found, "nextToken": token}

    def _read_connection(self, connection_id: str, _body: bytes, _query: Any) -> dict[str, Any]:
        return {"connection": _of(self.connections, connection_id)}

    def _revoke(self, connection_id: str, _body: bytes, _query: Any) -> dict[str, Any]:
        return {"connection": _of(self.connections, connection_id) | {"status": "revoked"}}

    def _verify(self, connection_id: str, body: bytes, _query: Any) -> dict[str, Any]:
        asked = llm_connections.VerifyConnectionRequest.model_validate_json(body)
        _of(self.connections, connection_id)
        refused = {"errorCode": "account", "detail": "Incorrect API key provided"}
        came = {"servedModel": asked.model, "costNanoUsd": 900} if self.works else refused
        return {"works": self.works, "milliseconds": 12, **came}

    def _enqueue(self, body: bytes, key: str) -> dict[str, Any]:
        asked = llm_requests.EnqueueLlmRequests.model_validate_json(body)
        digest = hashlib.sha256(body).hexdigest()
        with self._changed:
            before = self.enqueued.get(key)
            if before is not None:
                if before[0] != digest:
                    raise RefusedError(409, "idempotency_key_reused", "another body")
                return {"requestIds": before[1], "replayed": True}
            ids = [derived_id("llm", key, str(place)) for place in range(len(asked.requests))]
            self._require_askable(asked.requests)
            for row_id, row in zip(ids, asked.requests, strict=True):
                self._add(row_id, row.model_dump(mode="json", by_alias=True, exclude_none=True))
            self.enqueued[key] = (digest, ids)
        return {"requestIds": ids}

    def _require_askable(self, rows: Sequence[llm_requests.EnqueueLlmRequest]) -> None:
        for place, row in enumerate(rows):
            if row.connection_id not in self.connections:
                expected = "a connection of this organisation"
                _refuse_row(place, "connectionId", expected, "no such connection")
            if row.complete_by is not None and row.complete_by <= datetime.now(UTC):
                _refuse_row(place, "completeBy", "a moment in the future")

    def _add(self, row_id: str, asked: dict[str, Any]) -> None:
        self.rows[row_id] = {
            **asked,
            "id": row_id,
            "status": "queued",
            "provider": "openai",
            "attempt": 1,
            "mode": "job",
            "boundNanoUsd": 250,
            "price": {
                "processing": "batch",
                "source": "own",
                "inputUsd": "0.125",
                "outputUsd": "1",
            },
            "priceRef": "p",
            "createdAt": _now(),
            "updatedAt": _now(),
        }
        self.rows[row_id] |= self.ends(self.rows[row_id]) or {}

    def _list_rows(self, _body: bytes, query: dict[str, str]) -> dict[str, Any]:
        filters = {name: query[name] for name in query if name not in ("limit", "nextToken")}
        experiment = filters.pop("experimentId", None)
        rows = [
            row
            for row in reversed(self.rows.values())
            if all(row.get(name) == value for name, value in filters.items())
            and experiment in (None, row.get("trace", {}).get("experimentId"))
        ]
        found, token = _page(rows, query)
        summaries = [_checked(llm_requests.LlmRequestSummary, row) for row in found]
        return {"requests": summaries, "nextToken": token}

    def _read_row(self, row_id: str, _body: bytes, query: dict[str, str]) -> dict[str, Any]:
        row = _of(self.rows, row_id)
        began = time.monotonic()
        with self._changed:
            self._changed.wait_for(
                lambda: row["status"] in _ENDED, timeout=float(query.get("wait", 0))
            )
            self.held.append(time.monotonic() - began)
            return {"request": _checked(llm_requests.LlmRequest, row)}

    def _cancel_row(self, row_id: str, _body: bytes, _query: Any) -> dict[str, Any]:
        row = _of(self.rows, row_id)
        if row["status"] not in _ENDED:
            self.end(row_id, "canceled", error={"code": "canceled", "message": "canceled"})
        return {"request": _checked(llm_requests.LlmRequestSummary, row)}

    def _retry_row(self, row_id: str, _body: bytes, _query: Any) -> dict[str, Any]:
        row = _of(self.rows, row_id)
        if row["status"] not in _ENDED:
            raise RefusedError(409, "conflict", f"the request is {row['status']}")
        again = derived_id("llm", "retry", row_id)
        if again not in self.rows:
            asked = {name: row[name] for name in ("connectionId", "purpose", "model", "params")}
            self._add(again, {**asked, "priority": "normal", "retryOf": row_id})
        return {"requestIds": [again]}

    def _cancel_matching(self, body: bytes, _query: Any) -> dict[str, Any]:
        return self._each_matching(body, ("queued", "submitted"), self._cancel_row)

    def _retry_matching(self, body: bytes, _query: Any) -> dict[str, Any]:
        return self._each_matching(body, ("error", "canceled"), self._retry_row)

    def _parse_row(self, row_id: str, body: bytes, _query: Any) -> dict[str, Any]:
        row = _of(self.rows, row_id)
        if row["status"] != "completed":
            raise RefusedError(409, "conflict", f"the request is {row['status']}")
        made = parse_again(row, body)
        if made is None:
            fields = [{"field": "verdict", "expected": "a format"}]
            raise RefusedError(422, "invalid_request", "no format", fields)
        return {"parse": made}

    def _list_parses(self, row_id: str, _body: bytes, _query: Any) -> dict[str, Any]:
        return {"parses": parses_of(_of(self.rows, row_id))}

    def _parse_matching(self, body: bytes, _query: Any) -> dict[str, Any]:
        asked = llm_parses.ParseLlmRequests.model_validate_json(body)
        form = llm_parses.ParseLlmRequest(verdict=asked.verdict).model_dump_json(by_alias=True)

        def parse(row_id: str, _body: bytes, query: Any) -> dict[str, Any]:
            return self._parse_row(row_id, form.encode(), query)

        changing = asked.model_dump_json(by_alias=True, exclude={"verdict"}, exclude_none=True)
        return self._each_matching(changing.encode(), ("completed",), parse)

    def _erase_matching(self, body: bytes, _query: Any) -> dict[str, Any]:
        def erase(row_id: str, body: bytes, query: Any) -> dict[str, Any]:
            self._erase(row_id, body, query)
            return {}

        return self._each_matching(body, ("completed", "error", "canceled"), erase)

    def _each_matching(self, body: bytes, statuses: Any, change: Any) -> dict[str, Any]:
        """Change two rows a page, from the youngest on; those that come meanwhile are younger."""
        asked = llm_filters.ChangeLlmRequests.model_validate_json(body)
        wanted = asked.filter.model_dump(mode="json", by_alias=True, exclude_none=True)
        trace = {name: wanted.pop(name) for name in [*wanted] if name == "experimentId"}
        end = int(asked.next_token or len(self.rows))
        found = [
            row["id"]
            for row in list(self.rows.values())[max(0, end - 2) : end]
            if row["status"] in statuses
            and all(row.get(name) == value for name, value in wanted.items())
            and trace.items() <= row.get("trace", {}).items()
        ]
        changed = [change(row_id, b"", {}) for row_id in found]
        ids = [
            one["requestIds"][0] if "requestIds" in one else row_id
            for one, row_id in zip(changed, found, strict=True)
        ]
        token = str(end - 2) if end > 2 else None
        return {"requestIds": ids, "nextToken": token}

    def _erase(self, row_id: str, _body: bytes, _query: Any) -> None:
        for name in ("input", "rawOutput"):
            _of(self.rows, row_id).pop(name, None)

    def _list_batches(self, _body: bytes, query: dict[str, str]) -> dict[str, Any]:
        unresolved = query.get("needsOperator") == "true"
        differs = query.get("differs") == "true"
        compared = ("status", "connectionId", "model")
        listed = [
            one
            for one in reversed(self.batches.values())
            if (not unresolved or one.get("job", {}).get("candidates"))
            and (not differs or not one.get("difference", {}).get("withinTolerance", True))
            and all(query.get(name, one.get(name)) == one.get(name) for name in compared)
            and query.get("createdAfter", "") <= one["createdAt"]
            and one["createdAt"] < query.get("createdBefore", "~")
        ]
        found, token = _page(listed, query)
        return {"batches": found, "nextToken": token}

    def _read_batch(self, batch_id: str, _body: bytes, _query: Any) -> dict[str, Any]:
        return {"batch": _checked(llm_batches.LlmBatch, _of(self.batches, batch_id))}

    def _batch_rows(self, batch_id: str, _body: bytes, query: dict[str, str]) -> dict[str, Any]:
        rows = [self.rows[row_id] for row_id in _of(self.batches, batch_id)["rows"]]
        found, token = _page(rows, query)
        return {"requests": found, "nextToken": token}

    def _cancel_batch(self, batch_id: str, body: bytes, query: Any) -> dict[str, Any]:
        _of(self.batches, batch_id)["status"] = "canceled"
        return self._read_batch(batch_id, body, query)

    def _resolve_batch(self, batch_id: str, body: bytes, query: Any) -> dict[str, Any]:
        asked = llm_batches.ResolveLlmBatchRequest.model_validate_json(body)
        job = {"id": asked.job_id, "stage": "polling" if asked.job_id else "creating", "rows": 1}
        _of(self.batches, batch_id)["job"] = job
        return self._read_batch(batch_id, b"", query)

    def _costs(self, _body: bytes, query: dict[str, str]) -> dict[str, Any]:
        group = query.get("groupBy", "model")
        if group == "trace":
            group = query["traceField"]
        days = [query.get("from", "2026-11-22"), query.get("to", "2026-11-23")]
        figures = {"rows": 2, "inputTokens": 30, "outputTokens": 4, "costNanoUsd": 1_250_000_000}
        return {
            "groupBy": query.get("groupBy", "model"),
            "costs": [{"day": day, "group": f"a {group}", **figures} for day in days],
        }

    def _estimate(self, body: bytes, _query: Any) -> dict[str, Any]:
        asked = llm_batches.EstimateLlmRequests.model_validate_json(body)
        self._require_askable(asked.requests)
        size = sum(len(row.input.user.encode()) for row in asked.requests)
        bound = sum(row.params.max_tokens for row in asked.requests) + size
        fits = all(self.spent + bound <= one for one in self._nano_limits().values())
        return {
            "rows": len(asked.requests),
            "inputBytes": size,
            "boundNanoUsd": bound,
            "worstCaseNanoUsd": 5 * bound,
            "fits": fits,
        }

    def _budget(self, _body: bytes, _query: Any) -> dict[str, Any]:
        nano = self._nano_limits()
        return {
            "limits": self.limits,
            "periods": [
                {
                    "period": period,
                    "name": "2026",
                    "limitNanoUsd": nano.get(period),
                    "spentNanoUsd": self.spent,
                    "reservedNanoUsd": 0,
                }
                for period in ("day", "week", "month")
            ],
        }

    def _set_budget(self, body: bytes, query: Any) -> dict[str, Any]:
        asked = llm_batches.LlmBudgetLimits.model_validate_json(body)
        self.limits = asked.model_dump(by_alias=True, exclude_none=True)
        return self._budget(body, query)

    def _nano_limits(self) -> dict[str, int]:
        return {
            name.removesuffix("Usd"): llm_connections.nano_usd(amount)
            for name, amount in self.limits.items()
        }


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


def _refuse_row(place: int, field: str, expected: str, detail: str | None = None) -> NoReturn:
    """Refuse a request of several, in the words of the API."""
    path = f"requests[{place}].{field}"
    problem = {"field": path, "expected": expected}
    raise RefusedError(422, "invalid_request", f"{path}: {detail or expected}", [problem])


def _now() -> str:
    return datetime.now(UTC).isoformat()


def _of(things: dict[str, Any], thing_id: str, *, make: bool = False) -> dict[str, Any]:
    if make:
        things[thing_id] = {"id": thing_id}
    if thing_id not in things:
        raise RefusedError(404, "not_found", f"no {thing_id}")
    found: dict[str, Any] = things[thing_id]
    return found


def _page(things: list[Any], query: dict[str, str]) -> tuple[list[Any], str | None]:
    start, size = int(query.get("nextToken", 0)), int(query.get("limit", 50))
    more = str(start + size) if start + size < len(things) else None
    return things[start : start + size], more


def _checked(model: Any, document: dict[str, Any]) -> Any:
    """Return what of a document is the model's, so that no answer has what the API lacks."""
    return model.model_validate(document).model_dump(mode="json", by_alias=True)


def _problem(error: RefusedError, request: Received) -> Answer:
    problem = Problem(
        type=f"urn:autotune:problem:{error.code}",
        title=error.code,
        status=error.status,
        code=error.code,
        detail=error.detail,
        request_id=request.headers["x-autotune-request-id"],
        errors=error.errors,
    )
    content = problem.model_dump_json(by_alias=True, exclude_none=True).encode()
    return Answer(error.status, content, {"content-type": "application/problem+json"})


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
