"""Waiting behind a limit costs as much for each call, however many wait: on a simulated clock."""

import heapq
from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError

from autotune_platform.budgets.permit import SlotRefusedError
from autotune_platform.budgets.permits import CONCURRENT_CALLS, Permits, Wait
from autotune_platform.budgets.repository import BudgetRepository
from autotune_platform.budgets.slots import LANE_SLOTS, Slots
from tests.support.clock import StandingClock
from tests.unit.budgets.memory_table import MemoryTable

FUNCTION_SECONDS = 120
SECONDS_OF_A_CALL = 0.5
TRANSITIONS_OF_A_ROUND = 3


@dataclass
class Cost:
    """What it took until nothing was left."""

    rounds: int
    units: Counter[str]
    seconds: float
    moments: list[float]


def queue_up(runs: int, calls: int, **limits: Any) -> Cost:
    """Go round runs that all come at once, each with so many calls; every sleep passes at once.

    Each round has its own time: that of others that it overlaps with does not pass for it.
    """
    table, clock = MemoryTable(), StandingClock()
    permits = Permits(budgets=BudgetRepository(table), clock=clock)  # type: ignore[arg-type]
    limited = SimpleNamespace(
        max_concurrency=limits.get("concurrency"), requests_per_second=limits.get("rate")
    )
    start, rounds, end, moments = clock.unix(), 0, 0.0, []
    due = [(0.0, run, calls, 0.0) for run in range(runs)]
    while due:
        at, run, left, turn_at = heapq.heappop(due)
        clock.ahead = timedelta(seconds=at)
        rounds += 1
        begun = clock.unix()
        permit = permits.request(
            "grd_1",
            limited,
            calls=min(left, CONCURRENT_CALLS),
            seconds_left=lambda begun=begun: FUNCTION_SECONDS - (clock.unix() - begun),
            is_expected=bool(turn_at),
        )
        if isinstance(permit, Wait):
            wait, hold = permit.seconds, permit.hold_seconds
        else:
            with permit:
                while left and FUNCTION_SECONDS - (clock.unix() - begun) > 65:
                    try:
                        with permit.slot(is_down=lambda _: None):
                            moments.append(clock.unix())
                            clock.turn(seconds=SECONDS_OF_A_CALL / max(permit.concurrency, 1))
                    except SlotRefusedError:
                        break
                    left -= 1
                wait, hold = permit.wait_seconds(), permit.hold_seconds
        now = clock.unix()
        end = max(end, now - start)
        if not left:
            continue
        turn_at = 0.0
        if hold is not None:
            turn_at = (
                permits.reserve_turn(
                    "grd_1",
                    limited,
                    calls=left,
                    hold_seconds=hold,
                    not_before=now + wait,
                    until=now + 7 * 86_400,
                )
                or 0.0
            )
        heapq.heappush(due, (max(turn_at, now) - start, run, left, turn_at))
    return Cost(rounds, table.units, end, moments)


def test_thirty_thousand_behind_one_a_second_cost_as_much_each_as_three_thousand() -> None:
    few, many = (queue_up(runs, 100, rate=1) for runs in (30, 300))
    for runs, cost in ((30, few), (300, many)):
        assert len(cost.moments) == 100 * runs
        assert cost.rounds <= 6 * runs
        assert cost.units["read"] <= 2 * cost.rounds
        assert cost.units["write"] <= 2.2 * 100 * runs
        # The pace is used: nobody waits while the grader has nothing to do for long.
        assert 100 * runs - 1 <= cost.seconds <= 1.1 * 100 * runs
    assert many.rounds / few.rounds == pytest.approx(10, rel=0.1)
    assert many.units["read"] / few.units["read"] == pytest.approx(10, rel=0.1)
    assert many.units["write"] / few.units["write"] == pytest.approx(10, rel=0.1)
    transitions = many.rounds * TRANSITIONS_OF_A_ROUND
    # 201 USD a million before, at 25 USD for a million transitions.
    assert transitions / 30_000 * 25 < 5


def test_no_two_calls_come_closer_than_the_pace() -> None:
    moments = sorted(queue_up(20, 100, rate=4).moments)
    apart = [later - sooner for sooner, later in pairwise(moments)]
    assert min(apart) >= 0.25 - 1e-3


def test_a_thousand_slots_are_small_items() -> None:
    table, clock = MemoryTable(), StandingClock()
    slots = Slots(budgets=BudgetRepository(table), clock=clock)  # type: ignore[arg-type]
    taken = 0
    for number in range(3_000):
        taken += slots.take(
            "grd_" + "0" * 26, f"{number:016x}", wanted=1, limit=1_000, seconds=120
        ).slots
        assert taken <= 1_000
    assert taken == 1_000
    assert table.largest < 1_024
    assert len(table.items) == 1_000 / LANE_SLOTS


def test_a_busy_table_is_no_permit_and_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    table, clock = MemoryTable(), StandingClock()
    permits = Permits(budgets=BudgetRepository(table), clock=clock)  # type: ignore[arg-type]
    limits = SimpleNamespace(max_concurrency=4, requests_per_second=2)

    def busy(*_: Any, **__: Any) -> Any:
        code = {"Error": {"Code": "ProvisionedThroughputExceededException"}}
        raise ClientError(code, "UpdateItem")  # type: ignore[arg-type]

    for call in ("get", "put_new", "advance"):
        with monkeypatch.context() as throttled:
            throttled.setattr(table, call, busy)
            answer = permits.request("grd_1", limits, calls=1, seconds_left=lambda: 120)
            assert isinstance(answer, Wait)
            assert answer.seconds > 0
            assert not answer.is_down
    with monkeypatch.context() as throttled:
        throttled.setattr(table, "advance", busy)
        at = clock.unix() + 9
        assert (
            permits.reserve_turn(
                "grd_1", limits, calls=1, hold_seconds=1, not_before=at, until=at + 60
            )
            == at
        )


def test_a_turn_after_the_deadline_is_not_reserved() -> None:
    repository = BudgetRepository(MemoryTable())  # type: ignore[arg-type]
    turns = [repository.reserve_turn("grd_1", 100, seconds=45, until=200) for _ in range(4)]
    assert turns == [100, 145, 190, None]
    assert repository.reserve_turn("grd_1", 100, seconds=45, until=1_000) == 235
