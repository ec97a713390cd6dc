"""Whatever order reservations, ends, crashes, limits and days come in: nothing is overspent.

The same machine is played with a guard taken out of the code, and has to find that out.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch
from uuid import uuid4

import pytest
from botocore.exceptions import ReadTimeoutError
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from autotune_platform.budgets import money as money_module
from autotune_platform.budgets import scopes as scopes_module
from autotune_platform.budgets.money import MoneyBudgets, NoRoom, Reserved
from autotune_platform.budgets.scopes import (
    COMMITTED,
    SPENT,
    MoneyLimits,
    Standing,
    periods_of,
    settled_names,
)
from autotune_platform.budgets.uses import ITEM, partition, task_scope
from autotune_platform.runtime.clock import Clock
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.storage.counting import Addition
from tests.unit.budgets.memory_money import MoneyTable

ORGANIZATION = "org_1"
TASK = task_scope(ORGANIZATION, "triage")
NUMBERS = st.integers(0, 100)
SHORTEST_MONTHS = datetime(2027, 1, 30, 20, tzinfo=UTC)


class LateClock(Clock):
    """The time, or some hours less of it; waiting takes none of it."""

    def __init__(self, world: "Money", behind: timedelta) -> None:
        self._world, self._behind, self._slept = world, behind, 0.0

    def now(self) -> datetime:
        return self._world.time - self._behind

    def monotonic(self) -> float:
        return self._slept

    def sleep(self, seconds: float) -> None:
        self._slept += seconds


@dataclass
class Attempt:
    """A reservation that is not settled, or is, and the note that says so."""

    pk: str
    scopes: Sequence[str]
    periods: list[str]
    bound: int


class Money(RuleBasedStateMachine):
    """Two processes, of which one's clock is behind, at the budgets of a task and all."""

    def __init__(self) -> None:
        super().__init__()
        self.table, self.time = MoneyTable(), SHORTEST_MONTHS
        clocks = [LateClock(self, timedelta(hours=hours)) for hours in (0, 23)]
        self.processes = [
            MoneyBudgets(table=self.table, outbox=self.table, clock=clock)  # type: ignore[arg-type]
            for clock in clocks
        ]
        self.open: list[Attempt] = []
        self.settled: list[Attempt] = []
        self.days: dict[str, str] = defaultdict(str)
        self.committed: Counter[tuple[str, str]] = Counter()
        self.spent: Counter[tuple[str, str]] = Counter()

    def limits(self, scope: str) -> MoneyLimits:
        return Standing.of(self.table.get(partition(scope), ITEM) or {}).limits

    @rule(
        scope=st.sampled_from([TASK, ORGANIZATION]),
        day=st.none() | NUMBERS,
        week=st.none() | NUMBERS,
        month=st.none() | NUMBERS,
        is_meanwhile=st.booleans(),
    )
    def limit(self, scope: str, is_meanwhile: bool, **most: int | None) -> None:
        """Set limits now, or between the plan of the next reservation and its write."""

        def act() -> None:
            self.processes[0].set_limits(scope, MoneyLimits(**most))

        if is_meanwhile:
            self.table.before = act
        else:
            act()

    @rule(
        process=st.integers(0, 1),
        scopes=st.sampled_from([(TASK, ORGANIZATION), (ORGANIZATION,)]),
        bound=NUMBERS,
        is_answered=st.booleans(),
        is_noted=st.booleans(),
    )
    def reserve(
        self, process: int, scopes: Sequence[str], bound: int, is_answered: bool, is_noted: bool
    ) -> None:
        pk = uuid4().hex
        self.table.answers_lost = 0 if is_answered else 1

        def what_for(periods: list[str]) -> list[Addition]:
            note: dict[str, Any] = {"changes": {"periods": periods}, "only_if": {"periods": None}}
            # Without a note of its own, the token alone is why it is done once.
            return [Addition(table="budgets", pk=pk, sk="state", **note)] if is_noted else []

        found = self.processes[process].reserve(scopes, bound, what_for)
        self.table.answers_lost, self.table.before = 0, None
        if not isinstance(found, Reserved):
            # A refusal is right: one of them has no room in its present periods.
            assert isinstance(found, NoRoom)
            standing = Standing.of(self.table.get(partition(found.scope), ITEM) or {})
            (use,) = [
                one for one in standing.uses(self.time.date()) if one.period == found.use.period
            ]
            if process == 0:
                assert use.limit is not None
                assert use.spent + use.reserved + bound > use.limit
            return
        self.open.append(Attempt(pk, scopes, found.periods, bound))
        for scope in scopes:
            limits = self.limits(scope)
            item = self.table.get(partition(scope), ITEM) or {}
            # Nothing is reserved in a day that is over.
            assert item["today"] == found.periods[0] >= self.days[scope]
            self.days[scope] = found.periods[0]
            assert found.periods == list(
                periods_of(datetime.fromisoformat(found.periods[0]).date()).values()
            )
            for period, name in zip(("day", "week", "month"), found.periods, strict=True):
                self.committed[scope, name] += bound
                limit = getattr(limits, period)
                assert limit is None or self.committed[scope, name] <= limit

    @precondition(lambda self: self.open)
    @rule(
        place=st.integers(0, 100),
        part=st.sampled_from([0, 40, 100]),
        process=st.integers(0, 1),
    )
    def settle(self, place: int, part: int, process: int) -> None:
        """Settle at what it cost; what was lost in a crash is settled at its bound, later."""
        attempt = self.open.pop(place % len(self.open))
        spent = attempt.bound * part // 100
        assert self._settle(attempt, process, spent)
        self.settled.append(attempt)
        for scope in attempt.scopes:
            for name in settled_names(attempt.periods, self.processes[process].clock.now().date()):
                self.committed[scope, name] += spent - attempt.bound
                self.spent[scope, name] += spent

    @precondition(lambda self: self.settled)
    @rule(place=st.integers(0, 100), process=st.integers(0, 1))
    def settle_again(self, place: int, process: int) -> None:
        attempt = self.settled[place % len(self.settled)]
        self._settle(attempt, process, attempt.bound)

    def _settle(self, attempt: Attempt, process: int, spent: int) -> bool:
        money = self.processes[process]
        settled = Addition(
            table="budgets",
            pk=attempt.pk,
            sk="settled",
            changes={"settled": True},
            only_if=SETTLED_ONCE,
        )
        additions = money.settlement(
            attempt.scopes, attempt.periods, reserved=attempt.bound, spent=spent
        )
        return self.table.add_together([settled, *additions])

    @rule(hours=st.sampled_from([1, 5, 24, 24 * 8, 24 * 40]))
    def wait(self, hours: int) -> None:
        self.time += timedelta(hours=hours)

    @invariant()
    def the_items_are_what_is_open_and_what_was_spent(self) -> None:
        for scope in (TASK, ORGANIZATION):
            item = self.table.get(partition(scope), ITEM) or {}
            names = {name.partition("#")[2] for name in item if name.startswith(COMMITTED)}
            assert len(names) <= 9, "old names go"
            for name in names:
                committed = item[f"{COMMITTED}{name}"]
                spent = item.get(f"{SPENT}{name}", 0)
                # Also those that are over are no wrong numbers.
                assert committed == self.committed[scope, name], name
                assert spent == self.spent[scope, name], name
                assert 0 <= spent <= committed, name


SETTLED_ONCE: dict[str, None] = {"settled": None}


def play(examples: int = 60) -> None:
    found = settings(
        max_examples=examples,
        stateful_step_count=40,
        deadline=None,
        derandomize=True,
        phases=[Phase.generate],
        report_multiple_bugs=False,
    )
    run_state_machine_as_test(Money, settings=found)


def test_nothing_is_overspent_in_any_order() -> None:
    play()


def without_at_most(of: Any) -> Callable[..., Addition]:
    return lambda *given: replace(of(*given), at_most={})


def without_expectation(of: Any) -> Callable[..., Addition]:
    return lambda *given: replace(of(*given), only_if={})


MUTATIONS: dict[str, Callable[[], Any]] = {
    "the condition that there is room": lambda: patch.object(
        MoneyBudgets, "_addition", without_at_most(MoneyBudgets._addition)
    ),
    "the condition that limits and day are those that were seen": lambda: patch.object(
        MoneyBudgets, "_addition", without_expectation(MoneyBudgets._addition)
    ),
    "the settled flag": lambda: patch.dict(SETTLED_ONCE, clear=True),
    "the token of a transaction that is asked for again": lambda: patch.object(
        MoneyTable,
        "write_together",
        lambda self, additions, *, token, of=MoneyTable.write_together: of(
            self, additions, token=f"{token}{uuid4()}"
        ),
    ),
    "that the same is asked for again": lambda: patch.object(
        money_module, "is_unclear", lambda _: False
    ),
    "that periods go forward only": lambda: patch.object(Standing, "day", lambda self, now: now),
    "that nothing is added to what is gone": lambda: patch.object(
        money_module, "settled_names", lambda names, _: list(names)
    ),
    "that old names go": lambda: patch.object(Standing, "outdated", lambda *_: []),
    "the names that a clock which is behind still finds": lambda: patch.object(
        scopes_module, "_KEPT_BACK", 0
    ),
}


FOUND = (AssertionError, ReadTimeoutError, UnavailableError)


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_guard_that_is_gone_is_found_out(name: str) -> None:
    with MUTATIONS[name](), pytest.raises(FOUND):
        play(200)
