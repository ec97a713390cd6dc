"""Requests of the served ledger: they are enqueued, wait, end, and are asked or read again."""

import hashlib
import threading
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from autotune.protocol import (
    llm_filters,
    llm_parses,
    llm_requests,
)
from autotune.protocol.ids import derived_id
from tests.support.served_answers import RefusedError, checked, now, of, page, refuse_row
from tests.support.served_parses import parse_again, parses_of

ENDED = ("completed", "error", "canceled")


class ServedRows:
    """Keeps requests, which end as a test says.

    Attributes:
        ends: returns what a request that is enqueued becomes at once; None leaves it queued.
        held: how long each read with ``wait`` was held, in seconds.
    """

    connections: dict[str, dict[str, Any]]

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[str, dict[str, Any]] = {}
        self.enqueued: dict[str, tuple[str, list[str]]] = {}
        self.held: list[float] = []
        self.ends: Callable[[dict[str, Any]], dict[str, Any] | None] = lambda _: None
        self.changed = threading.Condition()

    def end(self, row_id: str, status: str = "completed", **fields: Any) -> None:
        """End a request, with an answer unless the fields say otherwise."""
        answer = {"rawOutput": "ready", "finishReason": "stop", "costNanoUsd": 1_500}
        more = answer if status == "completed" else {"costNanoUsd": 0}
        with self.changed:
            self.rows[row_id] |= {"status": status, **more, **fields}
            self.changed.notify_all()

    def end_later(self, row_id: str, seconds: float, **fields: Any) -> None:
        timer = threading.Timer(seconds, lambda: self.end(row_id, **fields))
        timer.daemon = True
        timer.start()

    def _enqueue(self, body: bytes, key: str) -> dict[str, Any]:
        asked = llm_requests.EnqueueLlmRequests.model_validate_json(body)
        digest = hashlib.sha256(body).hexdigest()
        with self.changed:
            before = self.enqueued.get(key)
            if before is not None:
                if before[0] != digest:
                    raise RefusedError(409, "idempotency_key_reused", "another body")
                return {"requestIds": before[1], "replayed": True}
            ids = [derived_id("llm", key, str(place)) for place in range(len(asked.requests))]
            self.require_askable(asked.requests)
            for row_id, row in zip(ids, asked.requests, strict=True):
                self._add(row_id, row.model_dump(mode="json", by_alias=True, exclude_none=True))
            self.enqueued[key] = (digest, ids)
        return {"requestIds": ids}

    def require_askable(self, rows: Sequence[llm_requests.EnqueueLlmRequest]) -> None:
        for place, row in enumerate(rows):
            if row.connection_id not in self.connections:
                expected = "a connection of this organisation"
                refuse_row(place, "connectionId", expected, "no such connection")
            if row.complete_by is not None and row.complete_by <= datetime.now(UTC):
                refuse_row(place, "completeBy", "a moment in the future")

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
            "createdAt": now(),
            "updatedAt": now(),
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
        found, token = page(rows, query)
        summaries = [checked(llm_requests.LlmRequestSummary, row) for row in found]
        return {"requests": summaries, "nextToken": token}

    def _read_row(self, row_id: str, _body: bytes, query: dict[str, str]) -> dict[str, Any]:
        row = of(self.rows, row_id)
        began = time.monotonic()
        with self.changed:
            self.changed.wait_for(
                lambda: row["status"] in ENDED, timeout=float(query.get("wait", 0))
            )
            self.held.append(time.monotonic() - began)
            return {"request": checked(llm_requests.LlmRequest, row)}

    def _cancel_row(self, row_id: str, _body: bytes, _query: Any) -> dict[str, Any]:
        row = of(self.rows, row_id)
        if row["status"] not in ENDED:
            self.end(row_id, "canceled", error={"code": "canceled", "message": "canceled"})
        return {"request": checked(llm_requests.LlmRequestSummary, row)}

    def _retry_row(self, row_id: str, _body: bytes, _query: Any) -> dict[str, Any]:
        row = of(self.rows, row_id)
        if row["status"] not in ENDED:
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
        row = of(self.rows, row_id)
        if row["status"] != "completed":
            raise RefusedError(409, "conflict", f"the request is {row['status']}")
        made = parse_again(row, body)
        if made is None:
            fields = [{"field": "verdict", "expected": "a format"}]
            raise RefusedError(422, "invalid_request", "no format", fields)
        return {"parse": made}

    def _list_parses(self, row_id: str, _body: bytes, _query: Any) -> dict[str, Any]:
        return {"parses": parses_of(of(self.rows, row_id))}

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
            of(self.rows, row_id).pop(name, None)
