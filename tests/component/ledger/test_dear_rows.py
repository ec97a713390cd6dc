"""Rows that may cost more than a whole period of the budget: refused, or set aside for others."""

from datetime import timedelta
from typing import Any

import pytest

from autotune_platform.ledger import rows_aside
from autotune_platform.ledger.rows_aside import RowsAside
from tests.component.ledger.test_journeys import assert_settled, statuses
from tests.support.imports import Imports, jsonl, openai_line
from tests.support.ledger import Ledger, later, row

DEAR = {"params": {"maxTokens": 1_000_000}}


def set_budget(ledger: Ledger, **limits: str) -> None:
    assert ledger.platform.call("PUT", "/api/v1/llm-budget", limits).status == 200


def run_later(ledger: Ledger, hours: float) -> None:
    with later(timedelta(hours=hours)):
        ledger.sweep()
        ledger.run()


def test_a_row_that_no_budget_has_room_for_lets_the_others_go(ledger: Ledger) -> None:
    connection = ledger.connect()
    (dear,) = ledger.enqueue(connection, "dear", **DEAR)
    small = ledger.enqueue(connection, "a", "b", "c")
    set_budget(ledger, dayUsd="0.01")
    ledger.run()
    assert statuses(ledger, small) == {"completed": 3}
    assert ledger.read(dear)["status"] == "queued"
    set_budget(ledger, dayUsd="1")
    run_later(ledger, 0.2)
    assert ledger.read(dear)["status"] == "completed"
    assert_settled(ledger)


def test_rows_that_are_set_aside_are_not_looked_through_again(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = ledger.connect(maxRows=5)
    dear = ledger.enqueue(connection, *(f"dear {n}" for n in range(12)), **DEAR)
    set_budget(ledger, dayUsd="0.01")
    for minutes in range(1, 5):
        run_later(ledger, minutes / 60)
    read: list[int] = []
    without_dear = RowsAside.without_dear

    def counted(self: Any, group: Any, ids: Any) -> Any:
        read.append(len(ids))
        return without_dear(self, group, ids)

    monkeypatch.setattr(RowsAside, "without_dear", counted)
    small = ledger.enqueue(connection, "a", "b", "c")
    run_later(ledger, 0.1)
    assert statuses(ledger, small) == {"completed": 3}
    assert read == []
    # They come back a few at a time.
    monkeypatch.setattr(rows_aside, "_BACK_AT_ONCE", 7)
    set_budget(ledger)
    for minutes in range(10, 30, 6):
        run_later(ledger, minutes / 60)
    assert statuses(ledger, dear) == {"completed": 12}
    assert_settled(ledger)


def test_what_is_set_aside_is_canceled_and_ends_with_its_connection(ledger: Ledger) -> None:
    connection = ledger.connect()
    first, second = ledger.enqueue(connection, "a", "b", **DEAR)
    set_budget(ledger, dayUsd="0.01")
    ledger.run()
    ledger.platform.call("POST", f"/api/v1/llm-requests/{first}/cancel")
    ledger.platform.call("DELETE", f"/api/v1/llm-connections/{connection}")
    run_later(ledger, 0.2)
    assert ledger.read(first)["status"] == "canceled"
    assert ledger.read(second)["error"]["code"] == "account"


@pytest.mark.parametrize("period", ["day", "week", "month"])
def test_what_costs_more_than_a_whole_period_is_refused(ledger: Ledger, period: str) -> None:
    connection = ledger.connect()
    set_budget(ledger, **{"dayUsd": "10", "monthUsd": "10", f"{period}Usd": "0.01"})
    requests = [row(connection), row(connection, **DEAR)]
    path = "/api/v1/llm-requests"
    several = ledger.platform.call("POST", f"{path}/batch", {"requests": requests})
    assert (several.status, set(several.fields)) == (422, {"requests[1].params.maxTokens"})
    alone = ledger.platform.call("POST", path, requests[1])
    assert (alone.status, set(alone.fields)) == (422, {"params.maxTokens"})
    limit = alone.json["limit"]
    assert (limit["name"], limit["maximum"]) == (f"budget of a {period}", 10_000_000)
    assert limit["actual"] > 400_000_000
    assert f"whole {period}, 0.01 US dollars" in alone.json["detail"]
    assert ledger.platform.call("GET", path).json["requests"] == []


def test_what_came_before_the_limit_comes_again_with_its_key(ledger: Ledger) -> None:
    connection = ledger.connect()
    (dear,) = ledger.enqueue(connection, "dear", key="key-1", **DEAR)
    set_budget(ledger, dayUsd="0.01")
    assert ledger.enqueue(connection, "dear", key="key-1", **DEAR) == [dear]


def test_a_retry_that_costs_too_much_is_refused(ledger: Ledger) -> None:
    connection = ledger.connect()
    (dear,) = ledger.enqueue(connection, "dear", **DEAR)
    ledger.platform.call("POST", f"/api/v1/llm-requests/{dear}/cancel")
    set_budget(ledger, dayUsd="0.01")
    refused = ledger.platform.call("POST", f"/api/v1/llm-requests/{dear}/retry")
    assert (refused.status, refused.json["limit"]["name"]) == (422, "budget of a day")
    several = ledger.platform.call("POST", "/api/v1/llm-requests/retry", {"filter": {}})
    assert (several.json["requestIds"], several.json["skipped"]) == ([], 1)


def test_lines_that_cost_too_much_are_left_out_of_an_import(
    ledger: Ledger, imports: Imports
) -> None:
    set_budget(ledger, dayUsd="0.01")
    content = jsonl(openai_line("a"), openai_line("b", max_tokens=1_000_000), openai_line("c"))
    made = imports.start(ledger.connect(), content)
    imports.step(made)
    found = imports.read(made)
    assert (found["counts"]["enqueued"], found["counts"]["rejected"]) == (2, 1)
    (error,) = found["errors"]
    assert (error["customId"], error["field"]) == ("b", "body.max_tokens")
    assert "budget of a whole day" in error["message"]
