"""Calls of an apprentice's runs: in both budgets, and written with their run."""

import itertools
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest

from autotune.protocol.llm_requests import EnqueueLlmRequest
from autotune.protocol.retry import RetryPolicy
from autotune_platform.budgets.scopes import MoneyLimits
from autotune_platform.budgets.uses import task_scope
from autotune_platform.ledger.apprenticed import Apprenticed, NotOpenedError
from autotune_platform.ledger.calling import LedgerCalls
from autotune_platform.ledger.calls import Answer, Outcome
from autotune_platform.ledger.models import Row
from autotune_platform.runtime import clients
from autotune_platform.runtime.clock import Clock
from autotune_platform.runtime.errors import BudgetExhaustedError
from autotune_platform.storage.counting import Addition
from autotune_platform.storage.table import Table
from functions.ledger import connections_api
from tests.component.ledger.test_conversations import caller
from tests.support.killing import Killed, Killer
from tests.support.ledger import MODEL, Ledger, later
from tests.support.tables import items_of_tables

TASK, RUN = "apt_00000000000000000000000001", "apr_00000000000000000000000001"
_MOST_CALLS = 8


@pytest.fixture
def calls(ledger: Ledger) -> Iterator[LedgerCalls]:
    yield from provided(ledger)


def provided(ledger: Ledger) -> Iterator[LedgerCalls]:
    """Provide what makes calls; what runs have of them is gone afterwards."""
    assert ledger
    yield connections_api.parts().ledger_calls
    # What stands for runs here is nothing that the platform stores.
    table = Table("apprentice", clients.dynamodb())
    for one in items_of_tables()["apprentice"]:
        table.delete(one["pk"]["S"], one["sk"]["S"])


def request(connection: str, text: str = "q") -> EnqueueLlmRequest:
    return EnqueueLlmRequest.model_validate(
        {
            "connectionId": connection,
            "purpose": "apprentice",
            "model": MODEL,
            "input": {"user": text},
            "params": {"maxTokens": 100},
        }
    )


def run(**changes: Any) -> Addition:
    """What is written of the run, in a table that the test may use for it."""
    only_if = changes.pop("only_if", {})
    return Addition(table="apprentice", pk=RUN, sk="run", changes=changes, only_if=only_if)


def of(*, begins: str | None = None, ends: str | None = "pending", task: str = TASK) -> Apprenticed:
    def opening(row: Row) -> Sequence[Addition]:
        return [run(state="pending", row=row.id, only_if={"state": begins})]

    def closing(row: Row, outcome: Outcome) -> Sequence[Addition]:
        state = "answered" if isinstance(outcome, Answer) else "failed"
        return [run(state=state, cost=row.cost_nano_usd, only_if={"state": ends})]

    return Apprenticed(task, RUN, opening, closing)


def stored() -> dict[str, Any]:
    found = [one for one in items_of_tables()["apprentice"] if one["pk"]["S"] == RUN]
    return {name: next(iter(value.values())) for one in found for name, value in one.items()}


def scopes(ledger: Ledger) -> tuple[str, str]:
    organization = caller(ledger).organization_id
    return task_scope(organization, TASK), organization


def used(calls: LedgerCalls, scope: str) -> tuple[int, int]:
    (day, *_) = calls.money.uses(scope)
    return day.spent, day.reserved


def test_a_call_is_in_both_budgets_and_its_run_is_written_with_it(
    ledger: Ledger, calls: LedgerCalls
) -> None:
    row, outcome = calls.call(caller(ledger), request(ledger.connect()), of=of())
    assert isinstance(outcome, Answer)
    assert (row.apprentice_task_id, row.apprentice_run_id) == (TASK, RUN)
    bill = ledger.fake.world.bill()["total_nano_usd"]
    assert row.cost_nano_usd == bill > 0
    assert [used(calls, scope) for scope in scopes(ledger)] == [(bill, 0)] * 2
    assert (stored()["state"], stored()["row"], int(stored()["cost"])) == ("answered", row.id, bill)


@pytest.mark.parametrize("which", [0, 1])
def test_a_refusal_says_which_budget_and_when_it_has_room_again(
    ledger: Ledger, calls: LedgerCalls, which: int
) -> None:
    calls.money.set_limits(scopes(ledger)[which], MoneyLimits(day=1, month=1))
    calls.money.set_limits(scopes(ledger)[1 - which], MoneyLimits(day=10**12))
    with pytest.raises(BudgetExhaustedError) as refused:
        calls.call(caller(ledger), request(ledger.connect()), of=of())
    budget = refused.value.budget
    assert budget.scope == ("apprentice_task", "organization")[which]
    assert budget.task_id == (TASK, None)[which]
    # Of the two that have none, the month is the longer one.
    assert (budget.period, budget.resets_at.day) == ("month", 1)
    assert timedelta(0) < budget.resets_at - Clock().now() <= timedelta(days=31)
    assert (stored(), ledger.fake.world.executions) == ({}, [])
    assert [used(calls, scope) for scope in scopes(ledger)] == [(0, 0)] * 2


def test_a_run_that_another_began_is_not_asked(ledger: Ledger, calls: LedgerCalls) -> None:
    connection = ledger.connect()
    calls.call(caller(ledger), request(connection), of=of())
    before = stored()
    with pytest.raises(NotOpenedError):
        calls.call(caller(ledger), request(connection), of=of())
    assert stored() == before
    assert len(ledger.fake.world.executions) == 1
    assert used(calls, scopes(ledger)[0]) == (ledger.fake.world.bill()["total_nano_usd"], 0)


def test_money_is_settled_where_the_run_is_gone(ledger: Ledger, calls: LedgerCalls) -> None:
    row, _ = calls.call(caller(ledger), request(ledger.connect()), of=of(ends="another"))
    assert stored()["state"] == "pending"
    assert used(calls, scopes(ledger)[0]) == (row.cost_nano_usd, 0)
    assert ledger.sweep() == 0


def test_a_killed_call_is_given_back_to_both_and_its_run_hears_of_it(
    ledger: Ledger, calls: LedgerCalls
) -> None:
    who, asked, killer = caller(ledger), request(ledger.connect()), Killer()
    heard: list[Row] = []

    def lost(row: Row) -> Sequence[Addition]:
        heard.append(row)
        assert row.apprentice_run_id == RUN
        numbers = {"cost": row.cost_nano_usd, "times": 1}
        return [Addition(table="apprentice", pk=row.id, sk="lost", numbers=numbers)]

    object.__setattr__(calls.settling, "lost", lost)
    for moment, after in itertools.product(("before-call", "after-call"), range(_MOST_CALLS)):
        calls.money.known.clear()
        run_as_it_is = of(begins=stored().get("state"))
        killer.kill(moment, after=after)
        with suppress(Killed):
            calls.call(who, asked, of=run_as_it_is)
        killer.spare()
    assert stored()["state"] == "answered"
    rows = ledger.platform.call("GET", "/api/v1/llm-requests").json["requests"]
    for _ in range(2):
        for one in rows:
            found = calls.rows.get(one["id"])
            assert found is not None
            calls.settling.recover(found)
    costs = {one["id"]: ledger.read(one["id"])["costNanoUsd"] for one in rows}
    assert [used(calls, scope) for scope in scopes(ledger)] == [(sum(costs.values()), 0)] * 2
    assert sum(costs.values()) >= ledger.fake.world.bill()["total_nano_usd"]
    told = {
        one["pk"]["S"]: (int(one.get("cost", {"N": "0"})["N"]), int(one["times"]["N"]))
        for one in items_of_tables()["apprentice"]
        if one["sk"]["S"] == "lost"
    }
    assert told == {row: (cost, 1) for row, cost in costs.items() if row in told}
    assert len(told) >= 2
    codes = {row.error.code for row in heard if row.error}
    assert codes == {"platform_error", "outcome_unclear"}


def test_an_answer_is_kept_where_others_keep_at_the_money(
    ledger: Ledger, calls: LedgerCalls, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each transaction that is at the scopes is canceled, as by others that write the same items.
    add = Table.add_together
    tries: list[int] = []

    def busy(table: Table, additions: Sequence[Addition]) -> bool:
        tries.append(len(additions))
        return add(table, additions) if all(one.table != "budgets" for one in additions) else False

    with monkeypatch.context() as others:
        others.setattr(Table, "add_together", busy)
        others.setattr(RetryPolicy, "pause", lambda *_: 0.0)
        row, outcome = calls.call(caller(ledger), request(ledger.connect()), of=of())
    assert isinstance(outcome, Answer)
    assert len(tries) > 3
    assert (row.status, stored()["state"]) == ("completed", "answered")
    assert outcome.text in ledger.read(row.id)["rawOutput"]
    bill = ledger.fake.world.bill()["total_nano_usd"]
    assert [used(calls, scope) for scope in scopes(ledger)] == [(0, row.bound_nano_usd)] * 2
    with later(timedelta(minutes=11)):
        assert ledger.sweep() == 1
        assert ledger.sweep() == 0
    assert [used(calls, scope) for scope in scopes(ledger)] == [(bill, 0)] * 2
