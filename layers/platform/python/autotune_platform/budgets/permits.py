"""Permits to call a grader, within its owner's limits and while its circuit lets calls pass.

A round of calls requests one before it reads anything. It costs one read without limits and with a
closed circuit. Where a limit is full, the round reserves a turn and comes back when that begins: a
turn is an appointment, and no right to call. Whoever comes takes slots and moments like everybody,
so that a turn that nobody takes holds up no call.
"""

import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from autotune.protocol.completions import ReasonCode
from autotune_platform.budgets.circuit import WINDOW_SECONDS, Circuit
from autotune_platform.budgets.permit import Limits, Permit
from autotune_platform.budgets.repository import BudgetRepository
from autotune_platform.budgets.slots import LANE_SLOTS, Slots, busy_is_none
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part

CONCURRENT_CALLS = LANE_SLOTS
"""Most calls that one round makes at the same time."""

_TURN_SECONDS = 45
"""Longest turn at a pace: a round has about so long to begin calls in."""
_BUSY_SECONDS = 5

# Enough for a paced call that takes its whole time, and for recording its outcome.
_PROBE_SECONDS = 60
_PASSED_KEPT_SECONDS = 10


@dataclass(frozen=True)
class Wait:
    """No permit now; request it again after ``seconds``.

    Attributes:
        is_down: the circuit forbids calls.
        hold_seconds: a limit is full, for which a turn is reserved: so long rounds hold a slot of
            late. None where there is nothing to reserve.
        reason_code: what the grader was found down with, where it is.
    """

    seconds: float
    is_down: bool = False
    hold_seconds: float | None = None
    reason_code: ReasonCode | None = None


@part
class Permits:
    """Grants permits to rounds of calls; all functions together keep each grader's limits."""

    budgets: BudgetRepository
    clock: Clock = SYSTEM_CLOCK
    _passed: dict[str, tuple[int, float]] = field(default_factory=dict, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def request(
        self,
        scope: str,
        limits: Limits,
        *,
        calls: int,
        seconds_left: Callable[[], float],
        is_expected: bool = False,
    ) -> "Permit | Wait":
        """Return a permit for a round of calls, or how long to wait before requesting it again.

        Where the table is too busy there is none: the round comes back later.

        Args:
            scope: what is called, such as a grader's id. Each scope has its limits and circuit.
            calls: most calls that the round makes at the same time.
            seconds_left: returns how long the round may last. No call of it may outlive that.
            is_expected: whether the round's turn has come.
        """
        now, round_id = self.clock.unix(), secrets.token_hex(8)
        circuit: Circuit | None = None
        with busy_is_none():
            circuit = self.budgets.circuit(scope)
        if circuit is None:
            return Wait(_BUSY_SECONDS)
        if wait := circuit.wait(now):
            return Wait(wait, is_down=True, reason_code=circuit.reason_code)
        permit = Permit(
            budget=self,
            scope=scope,
            limits=limits,
            round_id=round_id,
            seconds_left=seconds_left,
            circuit=circuit,
            probing=circuit.phase(now) == "half-open",
            is_expected=is_expected,
        )
        if not permit.take_slots(calls) and not (is_expected and permit.await_slots(calls)):
            hold = permit.taken.hold_seconds
            return Wait(hold, hold_seconds=hold)
        if seconds := permit.take_first_moment():
            permit.release_slots()
            return Wait(seconds, hold_seconds=permit.taken.hold_seconds)
        if permit.probing and not self._begin_probe(scope, round_id):
            permit.release_slots()
            return Wait(1, is_down=True, reason_code=circuit.reason_code)
        return permit

    def reserve_turn(
        self,
        scope: str,
        limits: Limits,
        *,
        calls: int,
        hold_seconds: float,
        not_before: float,
        until: float,
    ) -> float | None:
        """Reserve a turn of a round that is to make so many calls; return when it begins.

        It takes the place of as many moments as the calls need, or of a slot for as long as rounds
        hold one. Moments are Unix seconds.

        Args:
            hold_seconds: for how long rounds hold a slot of late.
            not_before: when there may be a permit.
            until: the latest that it may begin. None is returned where others wait for longer.
                Where the table is busy, nothing is reserved, and it is ``not_before``.
        """
        seconds = 0.0
        if limits.requests_per_second is not None:
            seconds = min(max(calls / limits.requests_per_second, 0), _TURN_SECONDS)
            seconds = max(seconds, 1 / limits.requests_per_second)
        if limits.max_concurrency is not None:
            share = min(calls, CONCURRENT_CALLS, limits.max_concurrency) / limits.max_concurrency
            seconds = max(seconds, hold_seconds * share)
        with busy_is_none():
            return self.budgets.reserve_turn(scope, not_before, seconds=seconds, until=until)
        return not_before

    def is_open(self, scope: str) -> bool:
        """Return whether a circuit is not closed: it is open, or a probe is due."""
        return self.budgets.circuit(scope).openings > 0

    @property
    def slots(self) -> Slots:
        """The slots of all scopes."""
        return Slots(budgets=self.budgets, clock=self.clock)

    def record(
        self,
        scope: str,
        *,
        passed: int,
        failed: int,
        is_news: bool,
        reason_code: ReasonCode | None = None,
    ) -> Circuit | None:
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
            scope,
            lambda circuit: circuit.counted(
                now, passed=passed, failed=failed, reason_code=reason_code
            ),
        )

    def end_probe(
        self,
        scope: str,
        round_id: str,
        *,
        failed: bool | None,
        reason_code: ReasonCode | None = None,
    ) -> Circuit | None:
        """Record a probe's outcome; return the circuit after it, None if the write failed."""
        now = self.clock.unix()
        # Where it failed, the permit to probe expires by itself.
        return self._change(
            scope,
            lambda circuit: circuit.probe_ended(
                round_id, now, failed=failed, reason_code=reason_code
            ),
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

        with busy_is_none():
            return self.budgets.change_circuit(scope, self.clock.unix(), changed)
        return None
