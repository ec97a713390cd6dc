"""Behind a grader that bears few calls at once, its slots are in use nearly all of the time."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from autotune_platform.budgets.permits import Permits, Wait
from autotune_platform.budgets.repository import BudgetRepository
from tests.support.virtual_time import VirtualTime
from tests.unit.budgets.memory_table import MemoryTable

WEEK = 7 * 86_400


@dataclass
class Use:
    """What runs took that came all at once.

    Attributes:
        seconds: until the last had ended.
        needed: what they would take if every slot were in use until then.
        most: most slots that were in use at a time.
    """

    seconds: float
    needed: float
    rounds: int
    most: int


@pytest.fixture(autouse=True)
def _same_lanes() -> Iterator[None]:
    before = random.getstate()
    random.seed(1)
    yield
    random.setstate(before)


def use_of(runs: int, *, slots: int, calls: int, shortest: float, longest: float) -> Use:
    """Have runs make so many calls each, as many at once as they get slots; a call is a hold."""
    clock, dice = VirtualTime(), random.Random(1)
    permits = Permits(budgets=BudgetRepository(MemoryTable()), clock=clock)  # type: ignore[arg-type]
    limits = SimpleNamespace(max_concurrency=slots, requests_per_second=None)
    begun, rounds, used, most, work = clock.unix(), 0, 0, 0, 0.0

    def one() -> None:
        nonlocal rounds, used, most, work
        turn_at: float | None = None
        while True:
            rounds += 1
            is_expected = turn_at is not None
            permit = permits.request(
                "grd_1", limits, calls=calls, seconds_left=lambda: 120, is_expected=is_expected
            )
            if not isinstance(permit, Wait):
                break
            assert permit.hold_seconds is not None
            now = clock.unix()
            turn_at = permits.reserve_turn(
                "grd_1",
                limits,
                calls=calls,
                hold_seconds=permit.hold_seconds,
                not_before=now + permit.seconds,
                until=now + WEEK,
            )
            assert turn_at is not None
            clock.sleep(max(1, int(turn_at - now)))  # as Step Functions does, in whole seconds
        with permit:
            seconds = dice.uniform(shortest, longest) * calls / permit.concurrency
            used += permit.concurrency
            most, work = max(most, used), work + seconds * permit.concurrency
            clock.sleep(seconds)
            used -= permit.concurrency

    clock.run([one] * runs)
    return Use(clock.unix() - begun, work / slots, rounds, most)


@pytest.mark.parametrize(
    ("runs", "slots", "calls", "shortest", "longest"),
    [(200, 4, 1, 2, 4), (200, 4, 8, 2, 4), (200, 20, 1, 5, 30), (200, 1, 1, 1, 3)],
)
def test_slots_are_in_use_nearly_all_of_the_time(
    runs: int, slots: int, calls: int, shortest: float, longest: float
) -> None:
    use = use_of(runs, slots=slots, calls=calls, shortest=shortest, longest=longest)
    assert use.most == slots
    assert use.seconds <= 1.2 * use.needed, use
    assert use.rounds <= 3 * runs, use
