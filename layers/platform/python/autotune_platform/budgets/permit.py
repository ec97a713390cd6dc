"""One round's permit: its slots, the moments of its calls, and what became of them."""

import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field
from typing import Protocol, Self

from autotune.protocol.completions import ReasonCode
from autotune_platform.budgets.circuit import Circuit
from autotune_platform.budgets.repository import BudgetRepository
from autotune_platform.budgets.slots import Slots, Taken, busy_is_none
from autotune_platform.runtime.clock import Clock
from autotune_platform.runtime.parts import part

LONGEST_PAUSE_SECONDS = 10
"""Longest that a call waits for its moment inside a function. A longer wait costs less in a run."""

# Whose turn has come waits longer, so that others that are still at it do not send it away.
_LONGEST_PAUSE_IN_TURN_SECONDS = 30
_LOOK_SECONDS = 0.5
_BUSY_SECONDS = 5


class Limits(Protocol):
    """An owner's limits; None is no limit."""

    @property
    def max_concurrency(self) -> int | None:
        """Most calls at the same time."""

    @property
    def requests_per_second(self) -> float | None:
        """Most calls in a second."""


class Budget(Protocol):
    """What a permit is granted of; all functions together keep it."""

    @property
    def budgets(self) -> BudgetRepository:
        """Where it is stored."""

    @property
    def clock(self) -> Clock:
        """What its times are of."""

    @property
    def slots(self) -> Slots:
        """The slots of all scopes."""

    def record(
        self,
        scope: str,
        *,
        passed: int,
        failed: int,
        is_news: bool,
        reason_code: ReasonCode | None = None,
    ) -> Circuit | None:
        """Count a round's calls."""

    def end_probe(
        self,
        scope: str,
        round_id: str,
        *,
        failed: bool | None,
        reason_code: ReasonCode | None = None,
    ) -> Circuit | None:
        """Record a probe's outcome."""


class SlotRefusedError(Exception):
    """The call may not be made in this round."""


@part
class Permit:
    """A round's permit to make ``concurrency`` calls at the same time, each in a slot.

    Use it as a context manager. On exit it releases its slots and records the calls' outcomes.

    Attributes:
        circuit: as it was last read.
        probing: whether the one call that it permits shows if the grader is back.
        is_expected: whether the round's turn has come.
        taken: the slots that it has.
        is_back: whether its probe closed the circuit.
    """

    budget: Budget
    scope: str
    limits: Limits
    round_id: str
    seconds_left: Callable[[], float]
    circuit: Circuit
    probing: bool
    is_expected: bool = False
    taken: Taken = field(default=Taken(0), init=False)
    is_back: bool = field(default=False, init=False)
    _passed: int = field(default=0, init=False)
    _failed: int = field(default=0, init=False)
    _failed_with: ReasonCode | None = field(default=None, init=False)
    _stopped: bool = field(default=False, init=False)
    _resume_at: float = field(default=0, init=False)
    _first_moment: float | None = field(default=None, init=False)
    _ended: bool = field(default=False, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._ended:
            return
        self._ended = True
        self.release_slots()
        if self.probing:
            self.budget.end_probe(self.scope, self.round_id, failed=None)
        elif self._passed or self._failed:
            is_news = self.circuit.failed_at > self.circuit.passed_at
            written = self.budget.record(
                self.scope,
                passed=self._passed,
                failed=self._failed,
                is_news=is_news,
                reason_code=self._failed_with,
            )
            self.circuit = written or self.circuit

    @property
    def longest_pause_seconds(self) -> float:
        """The longest that a call waits for its moment."""
        return self._horizon if self.limits.requests_per_second else 0

    @property
    def concurrency(self) -> int:
        """How many calls it permits at the same time."""
        return self.taken.slots

    @property
    def hold_seconds(self) -> float | None:
        """For how long rounds hold a slot of late, where a limit sent calls away; else None."""
        return self.taken.hold_seconds if self._resume_at and not self.is_down() else None

    def others_pass(self, since: float) -> bool:
        """Return whether the grader answered a call of this round, or any since a Unix time."""
        return self._passed > 0 or self.circuit.passed_at > since > 0

    def has_answer(self) -> bool:
        """Return whether the grader answered a call of this round."""
        return self._passed > 0 or self.is_back

    def is_down(self) -> bool:
        """Return whether the circuit forbids further calls."""
        return self.circuit.wait(self.budget.clock.unix()) > 0

    def wait_seconds(self) -> float:
        """Return the seconds that calls which were refused a slot have to wait, 0 if none."""
        now = self.budget.clock.unix()
        return max(self.circuit.wait(now), self._resume_at - now, 0)

    @contextmanager
    def slot(
        self,
        *,
        is_down: Callable[[Exception], bool | None],
        reason_of: Callable[[Exception], ReasonCode | None] = lambda _: None,
    ) -> Iterator[None]:
        """Wait for the moment of a call, which the caller makes inside, and count its outcome.

        Args:
            is_down: returns whether an error shows that the grader is down, None if the error shows
                neither.
            reason_of: returns the reason code of an error that shows it.

        Raises:
            SlotRefusedError: the moment is too far away, or the grader turned out to be down.
        """
        if self._stopped:
            raise SlotRefusedError
        self._await_moment()
        try:
            yield
        except Exception as error:
            if (failed := is_down(error)) is not None:
                self._count(failed=failed, reason_code=reason_of(error) if failed else None)
            raise
        else:
            self._count(failed=False)

    @contextmanager
    def extra_slot(self) -> Iterator[None]:
        """Take a slot beyond the permit's own, for one call whose outcome is not counted.

        Raises:
            SlotRefusedError: the limits allow no call at this moment, or the round is a probe.
        """
        extra_id = f"{self.round_id}-{secrets.token_hex(2)}"
        if self._stopped or self.probing or not (extra := self._take(extra_id, 1)).slots:
            raise SlotRefusedError
        try:
            rate = self.limits.requests_per_second
            if rate is not None and not self._reserve(rate, horizon=0)[1]:
                raise SlotRefusedError
            yield
        finally:
            self._release(extra_id, extra.lane)

    def take_slots(self, calls: int) -> int:
        """Take a slot for each of so many calls, one for a probe; return how many there were."""
        self.taken = self._take(self.round_id, 1 if self.probing else calls)
        return self.taken.slots

    def await_slots(self, calls: int) -> int:
        """Take slots once some are free; return how many, 0 where none were for half a minute.

        Whose turn has come finds those before it still at work at times. To send it away would
        leave the slots empty that are free a moment later, and put it behind everybody.
        """
        until = self.budget.clock.unix() + _LONGEST_PAUSE_IN_TURN_SECONDS
        while not self.taken.slots and self.budget.clock.unix() < until:
            self.budget.clock.sleep(_LOOK_SECONDS)
            self.take_slots(calls)
        return self.taken.slots

    def take_first_moment(self) -> float:
        """Reserve the moment of the first call; return the seconds to wait where it is too far."""
        rate = self.limits.requests_per_second
        if rate is None:
            return 0
        moment, reserved = self._reserve(rate, horizon=self._horizon)
        if not reserved:
            return max(moment - self.budget.clock.unix(), 1)
        self._first_moment = moment
        return 0

    def release_slots(self) -> None:
        """Release the permit's slots, so that other rounds can take them."""
        self._release(self.round_id, self.taken.lane)

    @property
    def _horizon(self) -> float:
        return _LONGEST_PAUSE_IN_TURN_SECONDS if self.is_expected else LONGEST_PAUSE_SECONDS

    def _take(self, round_id: str, wanted: int) -> Taken:
        limit = self.limits.max_concurrency
        if limit is None:
            return Taken(wanted)
        return self.budget.slots.take(
            self.scope, round_id, wanted=wanted, limit=limit, seconds=self.seconds_left()
        )

    def _release(self, round_id: str, lane: int) -> None:
        if self.limits.max_concurrency is not None:
            self.budget.slots.release(self.scope, round_id, lane)

    def _reserve(self, rate: float, *, horizon: float) -> tuple[float, bool]:
        """Return the next moment of a call, and whether it was reserved; busy, it was not."""
        now = self.budget.clock.unix()
        with busy_is_none():
            return self.budget.budgets.reserve_call(
                self.scope, now, interval=1 / rate, horizon=horizon
            )
        return now + _BUSY_SECONDS, False

    def _await_moment(self) -> None:
        rate = self.limits.requests_per_second
        if rate is None:
            return
        with self._lock:
            moment, self._first_moment = self._first_moment, None
        if moment is None:
            moment, reserved = self._reserve(rate, horizon=self._horizon)
            if not reserved:
                self._stopped, self._resume_at = True, moment
                raise SlotRefusedError
        self.budget.clock.sleep(max(moment - self.budget.clock.unix(), 0))

    def _count(self, *, failed: bool, reason_code: ReasonCode | None = None) -> None:
        with self._lock:
            self._failed_with = reason_code or self._failed_with
            if self.probing:
                self.probing = False
                after = self.budget.end_probe(
                    self.scope, self.round_id, failed=failed, reason_code=reason_code
                )
                self.circuit = after or self.circuit
                self._stopped = after is None or after.openings > 0
                self.is_back = not failed and not self._stopped
                return
            self._passed += not failed
            self._failed += failed
            seen = self.circuit.counted(
                self.budget.clock.unix(), passed=self._passed, failed=self._failed
            )
            self._stopped = self._stopped or seen.openings > 0
