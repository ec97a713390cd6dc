"""Batches of the served ledger, and what is spent: costs, estimates, the budget."""

from collections.abc import Callable, Sequence
from typing import Any

from autotune.protocol import (
    llm_batches,
    llm_connections,
    llm_requests,
)
from autotune.protocol.ids import new_id
from tests.support.served_answers import checked, now, of, page


class ServedBatches:
    """Keeps batches, and the limits of the budget."""

    rows: dict[str, dict[str, Any]]
    require_askable: Callable[[Sequence[llm_requests.EnqueueLlmRequest]], None]

    def __init__(self) -> None:
        super().__init__()
        self.batches: dict[str, dict[str, Any]] = {}
        self.limits: dict[str, Any] = {}
        self.spent = 0

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
            "createdAt": now(),
            "rows": list(row_ids),
            **fields,
        }
        return batch_id

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
        found, token = page(listed, query)
        return {"batches": found, "nextToken": token}

    def _read_batch(self, batch_id: str, _body: bytes, _query: Any) -> dict[str, Any]:
        return {"batch": checked(llm_batches.LlmBatch, of(self.batches, batch_id))}

    def _batch_rows(self, batch_id: str, _body: bytes, query: dict[str, str]) -> dict[str, Any]:
        rows = [self.rows[row_id] for row_id in of(self.batches, batch_id)["rows"]]
        found, token = page(rows, query)
        return {"requests": found, "nextToken": token}

    def _cancel_batch(self, batch_id: str, body: bytes, query: Any) -> dict[str, Any]:
        of(self.batches, batch_id)["status"] = "canceled"
        return self._read_batch(batch_id, body, query)

    def _resolve_batch(self, batch_id: str, body: bytes, query: Any) -> dict[str, Any]:
        asked = llm_batches.ResolveLlmBatchRequest.model_validate_json(body)
        job = {"id": asked.job_id, "stage": "polling" if asked.job_id else "creating", "rows": 1}
        of(self.batches, batch_id)["job"] = job
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
        self.require_askable(asked.requests)
        size = sum(len(row.input.user.encode()) for row in asked.requests)
        bound = sum(row.params.max_tokens for row in asked.requests) + size
        fits = all(self.spent + bound <= one for one in self.nano_limits().values())
        return {
            "rows": len(asked.requests),
            "inputBytes": size,
            "boundNanoUsd": bound,
            "worstCaseNanoUsd": 5 * bound,
            "fits": fits,
        }

    def _budget(self, _body: bytes, _query: Any) -> dict[str, Any]:
        nano = self.nano_limits()
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

    def nano_limits(self) -> dict[str, int]:
        return {
            name.removesuffix("Usd"): llm_connections.nano_usd(amount)
            for name, amount in self.limits.items()
        }
