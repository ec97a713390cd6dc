"""What is told of a budget that is nearly committed, or that more was spent of than reserved."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from autotune_platform.budgets.money import Halted, MoneyBudgets
from autotune_platform.budgets.scopes import MoneyLimits
from tests.component.ledger.test_budgets import (
    BOUND,
    ORGANIZATION,
    TASK,
    SetClock,
    another,
    attempt,
    give_back,
    reserve,
    used,
)
from tests.support.platform import Platform
from tests.support.tables import items_of_tables


@pytest.fixture
def clock() -> SetClock:
    return SetClock(datetime(2026, 12, 31, 23, 59, tzinfo=UTC))


@pytest.fixture
def money(platform: Platform, clock: SetClock) -> MoneyBudgets:
    assert platform
    return another(clock)


def published(kind: str) -> list[dict[str, Any]]:
    """Data of events of a type, in no order."""
    found = [one for one in items_of_tables()["ledger"] if one.get("type", {}).get("S") == kind]
    assert all(one["pk"]["S"].startswith("money#org_") for one in found)
    return [json.loads(one["data"]["S"]) for one in found]


@pytest.mark.parametrize("of_others", [False, True], ids=["alone", "beside others"])
def test_word_is_sent_once_when_80_percent_are_committed(
    money: MoneyBudgets, clock: SetClock, of_others: bool
) -> None:
    processes = [money, another(clock)] if of_others else [money]
    both = [TASK, ORGANIZATION]
    money.set_limits(TASK, MoneyLimits(day=10 * BOUND, month=11 * BOUND))
    for count in range(7):
        assert reserve(processes[count % len(processes)], BOUND, *both) is not None
    assert published("budget.warning") == []
    for count in range(3):
        assert reserve(processes[count % len(processes)], BOUND, *both) is not None
    day, month = sorted(published("budget.warning"), key=lambda one: one["period"])
    assert day == {
        "scope": "apprentice_task",
        "taskId": "triage",
        "period": "day",
        "name": "2026-12-31",
        "limitNanoUsd": 10 * BOUND,
        "spentNanoUsd": 0,
        "reservedNanoUsd": 8 * BOUND,
    }
    assert (month["period"], month["reservedNanoUsd"]) == ("month", 9 * BOUND)
    for one in processes:
        assert reserve(one, BOUND, *both) is None
    assert len(published("budget.warning")) == 2


def test_what_was_given_back_in_the_meantime_sends_no_word(
    money: MoneyBudgets, clock: SetClock
) -> None:
    money.set_limits(ORGANIZATION, MoneyLimits(day=10 * BOUND))
    periods = reserve(money, 7 * BOUND)
    assert periods is not None
    # It learns of the 7, and not that they are given back.
    other = another(clock)
    other.standing(ORGANIZATION)
    give_back(money, periods, reserved=7 * BOUND, spent=0)
    assert reserve(other, 2 * BOUND) is not None
    assert published("budget.warning") == []
    assert reserve(other, 6 * BOUND) is not None
    assert [one["scope"] for one in published("budget.warning")] == ["organization"]


def test_a_limit_of_nothing_sends_no_word_and_what_is_free_goes_on(money: MoneyBudgets) -> None:
    money.set_limits(ORGANIZATION, MoneyLimits(day=0))
    assert reserve(money, 0) is not None
    assert reserve(money, 1) is None
    money.set_limits(ORGANIZATION, MoneyLimits(day=BOUND))
    assert reserve(money, BOUND) is not None
    assert len(published("budget.warning")) == 1
    # What costs nothing is no reason, wherever the period stands.
    money.set_limits(ORGANIZATION, MoneyLimits(day=BOUND, month=BOUND))
    assert reserve(money, 0) is not None
    assert len(published("budget.warning")) == 1


def test_what_costs_more_than_was_reserved_is_booked_and_halts_the_task_alone(
    money: MoneyBudgets,
) -> None:
    both = [TASK, ORGANIZATION]
    first, second = reserve(money, BOUND, *both), reserve(money, BOUND, *both)
    assert first is not None
    assert second is not None
    end = money.settlement(both, first, reserved=BOUND, spent=BOUND + 1, row_id="llm_1")
    assert money.table.add_together(end)
    assert [used(money, scope)["day"] for scope in both] == [(BOUND + 1, BOUND)] * 2
    for one in (money, another(money.clock)):
        assert one.reserve(both, BOUND, attempt("next")) == Halted(TASK, "above_bound", "llm_1")
    assert reserve(money) is not None
    # What is under way is settled all the same.
    give_back(money, second, *both, reserved=BOUND, spent=BOUND)
    assert used(money, TASK)["day"] == (2 * BOUND + 1, 0)
