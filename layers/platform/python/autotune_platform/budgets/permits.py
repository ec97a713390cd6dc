"""Permits to call a grader, within its owner's limits and while its circuit lets calls pass.

A round of calls requests one permit. If the grader has no limits and its circuit is closed, the
permit costs one read.
"""

import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self

from autotune_platform.budgets.circuit import WINDOW_SECONDS, Circuit
from autotune_platform.budgets.repository import BudgetRepository
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import UnavailableError

LONGEST_PAUSE_SECONDS = 10
"""Longest that a call waits for its moment inside a function. A longer wait costs less in a run."""

# Enough for a paced call that takes its whole time, and for recording its outcome.
_PROBE_SECONDS = 60
_PASSED_KEPT_SECONDS = 10


class Limits(Protocol):
    """An owner's limits; None is no limit."""

    @property
    def max_concurrency(self) -> int | None:
        """Most calls at the same time."""
        ...

    @property
    def requests_per_second(self) -> float | None:
        """Most calls in a second."""
        ...


@dataclass(frozen=True)
class Wait:
    """No permit now; request it again after ``seconds``."""

    seconds: float


class SlotRefusedError(Exception):
    """The call may not be made in this round."""


class Permits:
    """Grants permits to rounds of calls; all functions together keep each grader's limits."""

    def __init__(self, *, budgets: BudgetRepository, clock: Clock = SYSTEM_CLOCK) -> None:
        self.budgets = budgets
        self.clock = clock
        self._passed: dict[str, tuple[int, float]] = {}
        self._lock = threading.Lock()

    def request(
        self, scope: str, limits: Limits, *, calls: int, seconds_left: Callable[[], float]
    ) -> "Permit | Wait":
        """Return a permit for a round of calls, or how long to wait before requesting it again.

        Args:
            scope: what is called, such as a grader's id. Each scope has its limits and circuit.
            calls: most calls that the round makes at the same time.
            seconds_left: returns how long the round may last. No call of it may outlive that.
        """
        now, round_id = self.clock.unix(), secrets.token_hex(8)
        circuit = self.budgets.circuit(scope)
        if wait := circuit.wait(now):
            return Wait(wait)
        probing = circuit.phase(now) == "half-open"
        slots = self.take_slots(scope, limits, round_id, 1 if probing else calls, seconds_left)
        if not slots:
            return Wait(1)
        permit = Permit(
            self,
            scope,
            limits,
            round_id,
            circuit,
            slots=slots,
            probing=probing,
            seconds_left=seconds_left,
        )
        if probing and not self._begin_probe(scope, round_id):
            permit.release_slots()
            return Wait(1)
        return permit

    def record(self, scope: str, *, passed: int, failed: int) -> Circuit | None:
        """Count a round's calls; return the circuit after them, None if it was not written.

        Successes alone are written only every ten seconds. They cannot open a circuit; they are
        needed only when failures are weighed against them.
        """
        now = self.clock.unix()
        with self._lock:
            kept, since = self._passed.pop(scope, (0, now))
            passed += kept if now - since < WINDOW_SECONDS else 0
            if not failed and now - since < _PASSED_KEPT_SECONDS:
                self._passed[scope] = (passed, since)
                return None

        def counted(circuit: Circuit) -> tuple[Circuit, Circuit]:
            after = circuit.counted(now, passed=passed, failed=failed)
            return after, after

        with suppress(UnavailableError):  # others count at the same time, and a sample is enough
            return self.budgets.change_circuit(scope, now, counted)
        return None

    def end_probe(self, scope: str, round_id: str, *, failed: bool | None) -> Circuit | None:
        """Record a probe's outcome; return the circuit after it, None if the write failed."""
        now = self.clock.unix()

        def ended(circuit: Circuit) -> tuple[Circuit, Circuit]:
            after = circuit.probe_ended(round_id, now, failed=failed)
            return after, after

        with suppress(UnavailableError):  # the permit to probe expires by itself
            return self.budgets.change_circuit(scope, now, ended)
        return None

    def _begin_probe(self, scope: str, round_id: str) -> bool:
        now = self.clock.unix()

        def begun(circuit: Circuit) -> tuple[Circuit, bool]:
            probed = circuit.probed_by(round_id, now, seconds=_PROBE_SECONDS)
            return (circuit, False) if probed is None else (probed, True)

        with suppress(UnavailableError):
            return self.budgets.change_circuit(scope, now, begun)
        return False

    def take_slots(
        self,
        scope: str,
        limits: Limits,
        round_id: str,
        wanted: int,
        seconds_left: Callable[[], float],
    ) -> int:
        """Take up to ``wanted`` slots of a scope for a round; return how many it got."""
        limit = limits.max_concurrency
        if limit is None:
            return wanted
        now, seconds = self.clock.unix(), seconds_left()
        with suppress(UnavailableError):
            return self.budgets.change_leases(
                scope,
                now,
                lambda leases: leases.taken(
                    round_id, now, wanted=wanted, limit=limit, seconds=seconds
                ),
            )
        return 0


class Permit:
    """A round's permit to make ``concurrency`` calls at the same time, each in a slot.

    Use it as a context manager. On exit it releases its slots and records the calls' outcomes.
    """

    def __init__(
        self,
        permits: Permits,
        scope: str,
        limits: Limits,
        round_id: str,
        circuit: Circuit,
        *,
        slots: int,
        probing: bool,
        seconds_left: Callable[[], float],
    ) -> None:
        self.concurrency = slots
        self._permits = permits
        self._scope = scope
        self._limits = limits
        self._round_id = round_id
        self._circuit = circuit
        self._probing = probing
        self._seconds_left = seconds_left
        self._passed = self._failed = 0
        self._stopped = False
        self._resume_at = 0.0
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.release_slots()
        if self._probing:
            self._permits.end_probe(self._scope, self._round_id, failed=None)
        elif self._passed or self._failed:
            written = self._permits.record(self._scope, passed=self._passed, failed=self._failed)
            self._circuit = written or self._circuit

    @property
    def longest_pause_seconds(self) -> float:
        """The longest that a call waits for its moment."""
        return LONGEST_PAUSE_SECONDS if self._limits.requests_per_second else 0

    def wait_seconds(self) -> float:
        """Return the seconds that calls which were refused a slot have to wait, 0 if none."""
        now = self._permits.clock.unix()
        return max(self._circuit.wait(now), self._resume_at - now, 0)

    @contextmanager
    def slot(self, *, is_down: Callable[[Exception], bool | None]) -> Iterator[None]:
        """Wait for the moment of a call, which the caller makes inside, and count its outcome.

        Args:
            is_down: returns whether an error shows that the grader is down, None if the error shows
                neither.

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
                self._count(failed=failed)
            raise
        else:
            self._count(failed=False)

    @contextmanager
    def extra_slot(self) -> Iterator[None]:
        """Take a slot beyond the permit's own, for one call whose outcome is not counted.

        Raises:
            SlotRefusedError: the limits allow no call at this moment, or the round is a probe.
        """
        extra_id = f"{self._round_id}-{secrets.token_hex(4)}"
        if self._stopped or self._probing:
            raise SlotRefusedError
        if not self._permits.take_slots(self._scope, self._limits, extra_id, 1, self._seconds_left):
            raise SlotRefusedError
        try:
            rate = self._limits.requests_per_second
            if rate is not None and not self._reserve(rate, horizon=0)[1]:
                raise SlotRefusedError
            yield
        finally:
            self._release(extra_id)

    def release_slots(self) -> None:
        """Release the permit's slots, so that other rounds can take them."""
        self._release(self._round_id)

    def _release(self, round_id: str) -> None:
        if self._limits.max_concurrency is None:
            return
        with suppress(UnavailableError):  # their lease expires by itself
            self._permits.budgets.change_leases(
                self._scope,
                self._permits.clock.unix(),
                lambda leases: (leases.released(round_id), None),
            )

    def _reserve(self, rate: float, *, horizon: float) -> tuple[float, bool]:
        return self._permits.budgets.reserve_call(
            self._scope, self._permits.clock.unix(), interval=1 / rate, horizon=horizon
        )

    def _await_moment(self) -> None:
        rate = self._limits.requests_per_second
        if rate is None:
            return
        moment, reserved = self._reserve(rate, horizon=LONGEST_PAUSE_SECONDS)
        if not reserved:
            self._stopped, self._resume_at = True, moment
            raise SlotRefusedError
        self._permits.clock.sleep(max(moment - self._permits.clock.unix(), 0))

    def _count(self, *, failed: bool) -> None:
        with self._lock:
            if self._probing:
                self._probing = False
                after = self._permits.end_probe(self._scope, self._round_id, failed=failed)
                self._circuit = after or self._circuit
                self._stopped = after is None or after.openings > 0
                return
            self._passed += not failed
            self._failed += failed
            seen = self._circuit.counted(
                self._permits.clock.unix(), passed=self._passed, failed=self._failed
            )
            self._stopped = self._stopped or seen.openings > 0
