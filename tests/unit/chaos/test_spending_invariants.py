"""Each invariant of money is tried on records that break it."""

from datetime import UTC, datetime
from typing import Any

from autotune_platform.budgets.uses import task_scope
from tests.chaos.spending_invariants import (
    all_is_used,
    bill_is_covered,
    periods_turned,
    spent_is_booked,
)

MIDNIGHT = datetime(2027, 2, 1, tzinfo=UTC)
BEFORE = ["2027-01-31", "2027-W04", "2027-01"]
AFTER = ["2027-02-01", "2027-W05", "2027-02"]
TASK = task_scope("org_1", "apt_1")


def call(cost: int, periods: list[str], *, task: bool = True, **fields: Any) -> dict[str, Any]:
    of_task = {"apprentice_task_id": "apt_1"} if task else {}
    return {
        "organization_id": "org_1",
        "periods": periods,
        "cost_nano_usd": cost,
        **of_task,
        **fields,
    }


def spent(before: int, after: int) -> dict[str, int]:
    return {**dict.fromkeys(BEFORE, before), **dict.fromkeys(AFTER, after)}


CALLS = [call(5, BEFORE), call(5, AFTER), call(7, AFTER, task=False)]


def test_one_call_more_or_less_than_has_room_is_found() -> None:
    assert not all_is_used({"org_1": 100}, {"org_1": 100}).violations
    assert all_is_used({"org_1": 90}, {"org_1": 100}).violations
    assert all_is_used({"org_1": 110}, {"org_1": 100}).violations


def test_what_a_period_spent_twice_or_never_is_found() -> None:
    right = {"org_1": spent(5, 12), TASK: spent(5, 5)}
    assert not spent_is_booked(CALLS, right).violations
    assert spent_is_booked(CALLS, {**right, TASK: spent(10, 5)}).violations
    assert spent_is_booked(CALLS, {**right, "org_1": spent(12, 5)}).violations
    assert spent_is_booked(CALLS[:2], right).violations


def test_a_midnight_with_nothing_on_one_side_is_found() -> None:
    assert not periods_turned({"org_1": spent(5, 5)}, MIDNIGHT).violations
    assert periods_turned({"org_1": spent(0, 5)}, MIDNIGHT).violations
    assert periods_turned({"org_1": dict.fromkeys(BEFORE, 5)}, MIDNIGHT).violations


def test_a_bill_that_is_not_booked_is_found() -> None:
    assert not bill_is_covered(CALLS, 17, 5, MIDNIGHT).violations
    assert bill_is_covered(CALLS, 18, 5, MIDNIGHT).violations
    # What nobody was billed for may be booked where it was assumed, and nowhere else.
    assert bill_is_covered(CALLS, 12, 5, MIDNIGHT).violations
    assumed = [call(5, BEFORE, cost_is_assumed=True), *CALLS[1:]]
    assert not bill_is_covered(assumed, 12, 0, MIDNIGHT).violations
    # What was billed before midnight was reserved before midnight.
    assert bill_is_covered(CALLS, 17, 10, MIDNIGHT).violations
