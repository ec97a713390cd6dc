"""A task's budgets are limits of its own, whoever is killed and whatever comes late."""

import json
from contextlib import suppress
from typing import Any

import pytest

from autotune_platform.budgets.money import Halted, MoneyBudgets, NoRoom, Reserved
from autotune_platform.budgets.scopes import MoneyLimits
from autotune_platform.budgets.task_money import TaskMoney, TaskSpend
from autotune_platform.budgets.uses import partition, task_scope
from autotune_platform.runtime import clients
from autotune_platform.storage.table import Table
from tests.support.apprentice_tasks import TASKS, changed, made, put, read
from tests.support.killing import Killed, Killer
from tests.support.platform import Platform
from tests.support.tables import items_of_tables


def money() -> MoneyBudgets:
    return MoneyBudgets(
        table=Table("budgets", clients.dynamodb()), outbox=Table("ledger", clients.dynamodb())
    )


def scope_of(platform: Platform, task: dict[str, Any]) -> str:
    return task_scope(platform.me()["organizationId"], task["id"])


def limits_shown(task: dict[str, Any]) -> dict[str, int | None]:
    return {one["period"]: one["limitNanoUsd"] for one in task["spend"]["periods"]}


def reserve(scope: str, amount: int) -> Reserved | NoRoom | Halted | None:
    return money().reserve([scope], amount, lambda _: [])


def test_budgets_are_the_limits_of_the_tasks_own_scope(
    platform: Platform, document: dict[str, Any]
) -> None:
    both = changed(document, "budgets", {"daily": "0.5", "monthly": "10"})
    task = made(platform, "intents", both)
    assert limits_shown(task) == {"day": 500_000_000, "week": None, "month": 10_000_000_000}
    scope = scope_of(platform, task)
    reserved = reserve(scope, 200_000_000)
    assert isinstance(reserved, Reserved)
    assert isinstance(reserve(scope, 300_000_001), NoRoom)
    end = money().settlement([scope], reserved.periods, reserved=200_000_000, spent=50_000_000)
    assert money().table.add_together(end)
    assert isinstance(reserve(scope, 400_000_000), Reserved)
    day, week, month = read(platform, "/intents").json["task"]["spend"]["periods"]
    assert (day["spentNanoUsd"], day["reservedNanoUsd"]) == (50_000_000, 400_000_000)
    assert (week["spentNanoUsd"], month["reservedNanoUsd"]) == (50_000_000, 400_000_000)
    # What a later configuration leaves out is no limit any more.
    task = made(platform, "intents", changed(both, "budgets", {"weekly": "2"}))
    assert limits_shown(task) == {"day": None, "week": 2_000_000_000, "month": None}
    assert read(platform, "/intents").json["task"] == task


def test_no_task_is_there_without_its_limits_wherever_a_put_is_killed(
    platform: Platform, document: dict[str, Any]
) -> None:
    killer = Killer()
    for after in range(40):
        killer.kill("before-call", after=after)
        answered = None
        with suppress(Killed):
            answered = put(platform, "intents", document)
        killer.spare()
        found = read(platform, "/intents")
        if found.status == 200:
            assert limits_shown(found.json["task"])["day"] == 10_000_000_000
        if answered is not None and answered.status == 200:
            break
    else:
        raise AssertionError("it never ended")
    # Limits of an earlier configuration do not come after those of a later one.
    made(platform, "intents", changed(document, "budgets.daily", "20"))
    task = made(platform, "intents", changed(document, "budgets.daily", "30"))
    owner = platform.me()["organizationId"]
    late = TaskMoney(money=money())
    spend = late.put(owner, task["id"], MoneyLimits(day=1), name="intents", version=2)
    assert spend.uses[0].limit == 30_000_000_000
    assert limits_shown(read(platform, "/intents").json["task"])["day"] == 30_000_000_000


def test_limits_that_come_late_do_not_replace_the_same_ones_as_before(
    platform: Platform, document: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    task = made(platform, "intents", document)
    with monkeypatch.context() as slow:
        # Whoever put the second one hangs before it sets limits.
        slow.setattr(TaskMoney, "put", lambda self, *_, **__: TaskSpend([]))
        assert made(platform, "intents", changed(document, "budgets.daily", "20"))["version"] == 2
    assert made(platform, "intents", document)["version"] == 3

    late, owner = TaskMoney(money=money()), platform.me()["organizationId"]
    late.put(owner, task["id"], MoneyLimits(day=20 * 10**9), name="intents", version=2)

    assert limits_shown(read(platform, "/intents").json["task"])["day"] == 10_000_000_000


def test_a_budget_that_differs_lifts_a_halt_and_the_same_does_not(
    platform: Platform, document: dict[str, Any]
) -> None:
    task = made(platform, "intents", document)
    scope = scope_of(platform, task)
    reserved = reserve(scope, 10)
    assert isinstance(reserved, Reserved)
    end = money().settlement([scope], reserved.periods, reserved=10, spent=11, row_id="llm_1")
    assert money().table.add_together(end)
    for put_again in (document, changed(document, "thresholds.phase2ToPhase3", 0.95)):
        task = made(platform, "intents", put_again)
        spend = task["spend"]
        assert (spend["haltedBecause"], spend["haltedBy"]) == ("above_bound", "llm_1")
        assert reserve(scope, 1) == Halted(scope, "above_bound", "llm_1")
    task = made(platform, "intents", changed(document, "budgets.daily", "10.01"))
    assert (task["spend"]["haltedBecause"], task["spend"]["haltedBy"]) == (None, None)
    assert isinstance(reserve(scope, 1), Reserved)


def test_nothing_is_paid_for_a_deleted_task_and_what_is_under_way_is_settled(
    platform: Platform, document: dict[str, Any]
) -> None:
    task = made(platform, "intents", document)
    scope = scope_of(platform, task)
    reserved = reserve(scope, 10)
    assert isinstance(reserved, Reserved)
    assert platform.call("DELETE", f"{TASKS}/intents").status == 204
    assert reserve(scope, 1) == Halted(scope, "deleted", None)
    end = money().settlement([scope], reserved.periods, reserved=10, spent=7)
    assert money().table.add_together(end)
    left = money().table.get(partition(scope), "limits") or {}
    assert left["expires_at"] > 0
    assert not {"task_name", "day"} & set(left)
    assert [value for name, value in left.items() if name.startswith("committed#")] == [7] * 3
    again = made(platform, "intents", document)
    assert again["id"] != task["id"]
    assert [one["spentNanoUsd"] for one in again["spend"]["periods"]] == [0] * 3


def test_word_of_a_tasks_budget_has_its_name(platform: Platform, document: dict[str, Any]) -> None:
    task = made(platform, "intents", changed(document, "budgets", {"daily": "0.000001"}))
    scope = scope_of(platform, task)
    assert isinstance(reserve(scope, 900), Reserved)
    refused = reserve(scope, 900)
    assert isinstance(refused, NoRoom)
    for _ in range(2):
        money().announce(refused)
    told = {
        one["type"]["S"]: json.loads(one["data"]["S"])
        for one in items_of_tables()["ledger"]
        if one["sk"]["S"].startswith("event#")
    }
    assert set(told) == {"budget.warning", "budget.exhausted"}
    for data in told.values():
        assert (data["scope"], data["taskId"]) == ("apprentice_task", task["id"])
        assert (data["taskName"], data["limitNanoUsd"]) == ("intents", 1_000)
