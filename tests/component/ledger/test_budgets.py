"""Money is reserved before it is spent: together never more than the limit, at any concurrency."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from autotune_platform.budgets.money import MoneyBudgets, MoneyLimits, periods_at
from autotune_platform.runtime import clients
from autotune_platform.runtime.clock import Clock
from autotune_platform.storage.table import Table
from tests.support.platform import Platform

ORGANIZATION = "org_00000000000000000000000000"
BOUND = 1_000


class SetClock(Clock):
    """A clock that stands where it is set."""

    def __init__(self, at: datetime) -> None:
        self.at = at

    def now(self) -> datetime:
        return self.at


@pytest.fixture
def clock() -> SetClock:
    return SetClock(datetime(2026, 12, 31, 23, 59, tzinfo=UTC))


@pytest.fixture
def money(platform: Platform, clock: SetClock) -> MoneyBudgets:
    assert platform
    return MoneyBudgets(
        table=Table("budgets", clients.dynamodb()),
        outbox=Table("ledger", clients.dynamodb()),
        clock=clock,
    )


def reserve(money: MoneyBudgets, amount: int = BOUND) -> list[str] | None:
    reservation = money.reservation(ORGANIZATION, amount)
    while not money.table.add_together(reservation.additions):
        room = money.room(ORGANIZATION)
        if room is not None and room < amount:
            return None
    return reservation.periods


def give_back(money: MoneyBudgets, periods: list[str], *, reserved: int, spent: int) -> None:
    additions = money.settlement(ORGANIZATION, periods, reserved=reserved, spent=spent)
    while not money.table.add_together(additions):
        pass


def used(money: MoneyBudgets) -> dict[str, tuple[int, int]]:
    return {use.period: (use.spent, use.reserved) for use in money.uses(ORGANIZATION)}


@pytest.mark.parametrize("period", ["day", "week", "month"])
def test_as_many_are_admitted_as_fit_and_no_more(money: MoneyBudgets, period: str) -> None:
    money.set_limits(ORGANIZATION, MoneyLimits(**{period: BOUND * 100 + BOUND // 2}))
    with ThreadPoolExecutor(8) as threads:
        admitted = [
            one for one in threads.map(lambda _: reserve(money), range(160)) if one is not None
        ]
    assert len(admitted) == 100
    assert used(money)[period] == (0, BOUND * 100)
    for periods in admitted:
        give_back(money, periods, reserved=BOUND, spent=BOUND)
    assert used(money)[period] == (BOUND * 100, 0)
    assert reserve(money) is None
    assert reserve(money, BOUND // 2) is not None


def test_what_is_not_spent_can_be_reserved_again(money: MoneyBudgets) -> None:
    limit = BOUND * 100 + BOUND // 2
    money.set_limits(ORGANIZATION, MoneyLimits(day=limit))
    actual = BOUND * 4 // 10
    count = 0
    while (periods := reserve(money)) is not None:
        give_back(money, periods, reserved=BOUND, spent=actual)
        count += 1
    spent, reserved = used(money)["day"]
    assert (spent, reserved) == (count * actual, 0)
    assert 0.95 * limit <= spent <= limit


def test_a_bound_above_the_limit_is_refused_although_nothing_was_spent(money: MoneyBudgets) -> None:
    money.set_limits(ORGANIZATION, MoneyLimits(month=BOUND - 1))
    assert reserve(money) is None
    assert used(money)["month"] == (0, 0)


def test_money_goes_back_to_the_periods_that_it_was_taken_from(
    money: MoneyBudgets, clock: SetClock
) -> None:
    money.set_limits(ORGANIZATION, MoneyLimits(day=BOUND, month=BOUND))
    before = reserve(money)
    assert before is not None
    clock.at += timedelta(minutes=2)  # a new day, month and year, in the same week
    after = reserve(money)
    assert after is not None
    assert set(before) & set(after) == {"week#2026-W53"}
    give_back(money, before, reserved=BOUND, spent=BOUND // 2)
    assert used(money) == {"day": (0, BOUND), "week": (BOUND // 2, BOUND), "month": (0, BOUND)}
    clock.at -= timedelta(minutes=2)
    assert used(money)["day"] == (BOUND // 2, 0)


def test_periods_are_those_of_utc_and_iso_8601() -> None:
    assert periods_at(datetime(2027, 1, 1, tzinfo=UTC)) == {
        "day": "day#2027-01-01",
        "week": "week#2026-W53",
        "month": "month#2027-01",
    }
