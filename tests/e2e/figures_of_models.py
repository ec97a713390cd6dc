"""Pages of the console about language models and access, and which field each of their figures is.

An address holds names in braces for ids of what ``make demo`` makes, such as ``{request_id}``.
"""

from typing import Any

from tests.support.page_figures import (
    Figure,
    Part,
    Rows,
    joined,
    nano_dollars,
    number,
    percent,
    plain,
    text,
)

_SUMS = ("rows", "inputTokens", "cachedInputTokens", "outputTokens", "costNanoUsd")


def _sum(answer: Any) -> dict[str, int]:
    return {name: sum(cost[name] for cost in answer["costs"]) for name in _SUMS}


def _groups(answer: Any) -> list[Any]:
    """Costs by group, the dearest first; days with the youngest first."""
    groups = sorted({cost["group"] for cost in answer["costs"]})
    found = []
    for group in groups:
        own = [cost for cost in answer["costs"] if cost["group"] == group]
        found.append({"group": group, "of": _sum(answer), **_sum({"costs": own})})
    if answer["groupBy"] == "day":
        return found[::-1]
    return sorted(found, key=lambda one: -one["costNanoUsd"])


def _used(period: str) -> Figure:
    def said(answer: Any) -> str:
        (one,) = (found for found in answer["periods"] if found["period"] == period)
        parts = [
            f"{nano_dollars('spentNanoUsd').of(one)} spent",
            f"{nano_dollars('reservedNanoUsd').of(one)} reserved",
        ]
        limit = one["limitNanoUsd"]
        parts.append("no limit" if limit is None else f"of {nano_dollars('').of(limit)}")
        return ", ".join(parts)

    return Figure(str, said)


_SPENT_BY = {
    "Cost": nano_dollars("costNanoUsd"),
    "Share": percent(lambda one: one["costNanoUsd"] / one["of"]["costNanoUsd"]),
    "Requests": number("rows"),
    "Input tokens": number("inputTokens"),
    "Cached input": number("cachedInputTokens"),
    "Output tokens": number("outputTokens"),
}


def _spend(by: str) -> Part:
    return Part(
        f"llm-costs?groupBy={by}&from={{month_ago}}&to={{today}}",
        stats={
            "Spent": nano_dollars(lambda it: _sum(it)["costNanoUsd"]),
            "Requests": number(lambda it: _sum(it)["rows"]),
            "Input tokens": number(lambda it: _sum(it)["inputTokens"]),
            "Output tokens": number(lambda it: _sum(it)["outputTokens"]),
        },
        tables={"Spend by group": Rows(_groups, {by.title(): plain("group"), **_SPENT_BY})},
    )


_REQUESTS = {
    "Request": plain("id"),
    "Status": text("status"),
    "Purpose": plain("purpose"),
    "Model": plain("model"),
    "Cost": nano_dollars("costNanoUsd"),
}
# Views by address, with what they show of which answers.
MODELS: dict[str, list[Part]] = {
    "#/ledger": [_spend("model"), Part("llm-budget", images={"Today, {today}": _used("day")})],
    "#/ledger?by=purpose": [_spend("purpose")],
    "#/ledger?by=day": [_spend("day")],
    "#/ledger/requests": [
        Part("llm-requests?limit=50", tables={"Requests": Rows("requests", _REQUESTS)})
    ],
    "#/ledger/requests/{request_id}": [
        Part(
            "llm-requests/{request_id}",
            facts={
                "Cost": nano_dollars("request.costNanoUsd"),
                "At most": nano_dollars("request.boundNanoUsd"),
                "Input tokens": number("request.usage.inputTokens"),
                "of them cached": number("request.usage.cachedInputTokens"),
                "Output tokens": number("request.usage.outputTokens"),
            },
            tables={
                "Attempts that are over": Rows(
                    "request.attempts",
                    {"Attempt": number("number"), "Cost": nano_dollars("costNanoUsd")},
                )
            },
        )
    ],
    "#/ledger/batches": [
        Part(
            "llm-batches?limit=50",
            tables={
                "Batches": Rows(
                    "batches",
                    {
                        "Batch": plain("id"),
                        "Status": text("status"),
                        "Answered": joined(
                            number("counts.completed"), " of ", number("counts.rows")
                        ),
                        "Failed": number("counts.error"),
                        "Cost": nano_dollars("costNanoUsd"),
                    },
                )
            },
        )
    ],
    "#/ledger/batches/{llm_batch_id}": [
        Part(
            "llm-batches/{llm_batch_id}",
            stats={
                "Requests": number("batch.counts.rows"),
                "Answered": number("batch.counts.completed"),
                "Failed": number("batch.counts.error"),
                "Canceled": number("batch.counts.canceled"),
                "Put back": number("batch.counts.released"),
                "Cost": nano_dollars("batch.costNanoUsd"),
            },
        ),
        Part(
            "llm-batches/{llm_batch_id}/rows?limit=50",
            tables={"Requests of the batch": Rows("requests", _REQUESTS)},
        ),
    ],
    "#/ledger/connections": [
        Part(
            "llm-connections?limit=50",
            tables={
                "Connections": Rows(
                    "connections",
                    {"Name": plain("name"), "Status": text("status"), "Id": plain("id")},
                )
            },
        )
    ],
    "#/ledger/connections/{connection_id}": [
        Part(
            "llm-connections/{connection_id}",
            facts={"Calls at a time": number("connection.concurrency")},
            tables={
                "Prices": Rows(
                    lambda it: [
                        {"model": one, **of} for one, of in it["connection"]["prices"].items()
                    ],
                    {
                        "Model": plain("model"),
                        "Input": plain(lambda it: f"${it['inputUsd']}"),
                        "Output": plain(lambda it: f"${it['outputUsd']}"),
                    },
                )
            },
        )
    ],
    "#/keys": [
        Part(
            "keys?limit=50",
            tables={
                "Keys": Rows(
                    "keys",
                    {"Id": plain("id"), "Role": text("role"), "Status": text("status")},
                )
            },
        )
    ],
    "#/sessions": [
        Part(
            "sessions?limit=50",
            tables={
                "Sessions": Rows(
                    "sessions",
                    {
                        "Principal": plain("principalId"),
                        "Role": text("role"),
                        "Status": text("status"),
                    },
                )
            },
        )
    ],
    "#/audit?action=create_task": [
        Part(
            "audit?action=create_task&limit=50",
            tables={
                "Audit entries": Rows(
                    "entries", {"Action": text("action"), "Request": plain("requestId")}
                )
            },
        )
    ],
}
