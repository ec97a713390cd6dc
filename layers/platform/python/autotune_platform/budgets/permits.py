"""Permits to call a grader, within its owner's limits and while its circuit lets calls pass.

A round of calls requests one. It costs one read without limits and with a closed circuit.
"""

import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Protocol, Self

from autotune_platform.budgets.circuit import WINDOW_SECONDS, Circuit
from autotune_platform.budgets.repository import BudgetRepository
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.parts import part

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

    @property
    def requests_per_second(self) -> float | None:
        """Most calls in a second."""


@dataclass(frozen=True)
class Wait:
    """No permit now; request it again after ``seconds``. A circuit forbids it if ``is_down``."""

    seconds: float
    is_down: bool = False


class SlotRefusedError(Exception):
    """The call may not be made in this round."""


@part
class Permits:
    """Grants permits to rounds of calls; all functions together keep each grader's limits."""

    budgets: BudgetRepository
    clock: Clock = SYSTEM_CLOCK
    _passed: dict[str, tuple[int, float]] = field(default_factory=dict, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

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
            return Wait(wait, is_down=True)
        permit = Permit(
            permits=self,
            scope=scope,
            limits=limits,
            round_id=round_id,
            seconds_left=seconds_left,
            circuit=circuit,
            probing=circuit.phase(now) == "half-open",
        )
        if not permit.take_slots(calls):
            return Wait(1)
        if permit.probing and not self._begin_probe(scope, round_id):
            permit.release_slots()
            return Wait(1, is_down=True)
        return permit

    def record(self, scope: str, *, passed: int, failed: int, is_news: bool) -> Circuit | None:
        """Count a round's calls; return the circuit after them, None if it was not written.

        Successes alone are written only every ten seconds, or at once where ``is_news``, because
        something failed before. They cannot open a circuit; failures are weighed against them.
        """
        now = self.clock.unix()
        with self._lock:
            kept, since = self._passed.pop(scope, (0, now))
            passed += kept if now - since < WINDOW_SECONDS else 0
            if not failed and now - since < _PASSED_KEPT_SECONDS and not is_news:
                self._passed[scope] = (passed, since)
                return None

        # Others count at the same time, and a sample is enough.
        return self._change(
            scope, lambda circuit: circuit.counted(now, passed=passed, failed=failed)
        )

    def end_probe(self, scope: str, round_id: str, *, failed: bool | None) -> Circuit | None:
        """Record a probe's outcome; return the circuit after it, None if the write failed."""
        now = self.clock.unix()
        # Where it failed, the permit to probe expires by itself.
        return self._change(
            scope, lambda circuit: circuit.probe_ended(round_id, now, failed=failed)
        )

    def _begin_probe(self, scope: str, round_id: str) -> bool:
        now = self.clock.unix()

        def begun(circuit: Circuit) -> Circuit:
            return circuit.probed_by(round_id, now, seconds=_PROBE_SECONDS) or circuit

        after = self._change(scope, begun)
        return after is not None and after.probe == round_id

    def _change(self, scope: str, change: Callable[[Circuit], Circuit]) -> Circuit | None:
        """Change a circuit; return it as it is then, None if others kept changing it."""

        def changed(circuit: Circuit) -> tuple[Circuit, Circuit]:
            after = change(circuit)
            return after, after

        with suppress(UnavailableError):
            return self.budgets.change_circuit(scope, self.clock.unix(), changed)
        return None


@part
class Permit:
    """A round's permit to make ``concurrency`` calls at the same time, each in a slot.

    Use it as a context manager. On exit it releases its slots and records the calls' outcomes.

    Attributes:
        circuit: as it was last read.
        probing: whether the one call that it permits shows if the grader is back.
    """

    permits: Permits
    scope: str
    limits: Limits
    round_id: str
    seconds_left: Callable[[], float]
    circuit: Circuit
    probing: bool
    concurrency: int = field(default=0, init=False)
    _passed: int = field(default=0, init=False)
    _failed: int = field(default=0, init=False)
    _stopped: bool = field(default=False, init=False)
    _resume_at: float = field(default=0, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release_slots()
        if self.probing:
            self.permits.end_probe(self.scope, self.round_id, failed=None)
        elif self._passed or self._failed:
            is_news = self.circuit.failed_at > self.circuit.passed_at
            written = self.permits.record(
                self.scope, passed=self._passed, failed=self._failed, is_news=is_news
            )
            self.circuit = written or self.circuit

    @property
    def longest_pause_seconds(self) -> float:
        """The longest that a call waits for its moment."""
        return LONGEST_PAUSE_SECONDS if self.limits.requests_per_second else 0

    def others_pass(self, since: float) -> bool:
        """Return whether the grader answered a call of this round, or any since a Unix time."""
        return self._passed > 0 or self.circuit.passed_at > since > 0

    def is_down(self) -> bool:
        """Return whether the circuit forbids further calls."""
        return self.circuit.wait(self.permits.clock.unix()) > 0

    def wait_seconds(self) -> float:
        """Return the seconds that calls which were refused a slot have to wait, 0 if none."""
        now = self.permits.clock.unix()
        return max(self.circuit.wait(now), self._resume_at - now, 0)

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
        extra_id = f"{self.round_id}-{secrets.token_hex(4)}"
        if self._stopped or self.probing or not self._take(extra_id, 1):
            raise SlotRefusedError
        try:
            rate = self.limits.requests_per_second
            if rate is not None and not self._reserve(rate, horizon=0)[1]:
                raise SlotRefusedError
            yield
        finally:
            self._release(extra_id)

    def take_slots(self, calls: int) -> int:
        """Take a slot for each of so many calls, one for a probe; return how many there were."""
        self.concurrency = self._take(self.round_id, 1 if self.probing else calls)
        return self.concurrency

    def release_slots(self) -> None:
        """Release the permit's slots, so that other rounds can take them."""
        self._release(self.round_id)

    def _take(self, round_id: str, wanted: int) -> int:
        limit = self.limits.max_concurrency
        if limit is None:
            return wanted
        now, seconds = self.permits.clock.unix(), self.seconds_left()
        with suppress(UnavailableError):
            return self.permits.budgets.change_leases(
                self.scope,
                now,
                lambda leases: leases.taken(
                    round_id, now, wanted=wanted, limit=limit, seconds=seconds
                ),
            )
        return 0

    def _release(self, round_id: str) -> None:
        if self.limits.max_concurrency is None:
            return
        with suppress(UnavailableError):  # their lease expires by itself
            self.permits.budgets.change_leases(
                self.scope,
                self.permits.clock.unix(),
                lambda leases: (leases.released(round_id), None),
            )

    def _reserve(self, rate: float, *, horizon: float) -> tuple[float, bool]:
        return self.permits.budgets.reserve_call(
            self.scope, self.permits.clock.unix(), interval=1 / rate, horizon=horizon
        )

    def _await_moment(self) -> None:
        rate = self.limits.requests_per_second
        if rate is None:
            return
        moment, reserved = self._reserve(rate, horizon=LONGEST_PAUSE_SECONDS)
        if not reserved:
            self._stopped, self._resume_at = True, moment
            raise SlotRefusedError
        self.permits.clock.sleep(max(moment - self.permits.clock.unix(), 0))

    def _count(self, *, failed: bool) -> None:
        with self._lock:
            if self.probing:
                self.probing = False
                after = self.permits.end_probe(self.scope, self.round_id, failed=failed)
                self.circuit = after or self.circuit
                self._stopped = after is None or after.openings > 0
                return
            self._passed += not failed
            self._failed += failed
            seen = self.circuit.counted(
                self.permits.clock.unix(), passed=self._passed, failed=self._failed
            )
            self._stopped = self._stopped or seen.openings > 0
