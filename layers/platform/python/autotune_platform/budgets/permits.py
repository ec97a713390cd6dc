"""Leave to call a grader: what its owner allows, and what its circuit does.

A round of calls asks once. A grader without limits whose circuit is closed costs it one read.
"""

import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self

from autotune_platform.budgets.circuit import WINDOW_SECONDS, Circuit
from autotune_platform.budgets.repository import BudgetRepository
from autotune_platform.runtime.errors import UnavailableError

LONGEST_PAUSE_SECONDS = 10
"""Longest that a call waits for its moment inside a function; a run that sleeps is cheaper then."""

# A paced call that takes its whole time, and writing down what it showed.
_PROBE_SECONDS = 60
_PASSED_KEPT_SECONDS = 10


class Limits(Protocol):
    """What may be called at most; None is no limit."""

    @property
    def max_concurrency(self) -> int | None:
        """Calls at the same time."""
        ...

    @property
    def requests_per_second(self) -> float | None:
        """Calls in a second."""
        ...


@dataclass(frozen=True)
class Wait:
    """No calls at this moment; ask again after ``seconds``."""

    seconds: float


class TurnRefusedError(Exception):
    """The call is not to be made in this round."""


class Admission:
    """Admits rounds of calls, so that all functions together keep to each grader's limits."""

    def __init__(
        self,
        *,
        budgets: BudgetRepository,
        now: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.budgets = budgets
        self.now = now
        self.sleep = sleep
        self._passed: dict[str, tuple[int, float]] = {}
        self._lock = threading.Lock()

    def admit(
        self, scope: str, limits: Limits, *, calls: int, seconds_left: Callable[[], float]
    ) -> "Admitted | Wait":
        """Admit a round of calls.

        Args:
            calls: most calls at the same time.
            scope: what is called, such as a grader's id; limits and circuit are kept for each.
            seconds_left: how long the round may last; no call of it may outlive that.
        """
        now, round_id = self.now(), secrets.token_hex(8)
        circuit = self.budgets.circuit(scope)
        if wait := circuit.wait(now):
            return Wait(wait)
        probing = circuit.phase(now) == "half-open"
        places = self.take_places(scope, limits, round_id, 1 if probing else calls, seconds_left)
        if not places:
            return Wait(1)
        admitted = Admitted(
            self,
            scope,
            limits,
            round_id,
            circuit,
            places=places,
            probing=probing,
            seconds_left=seconds_left,
        )
        if probing and not self._begin_probe(scope, round_id):
            admitted.give_places_back()
            return Wait(1)
        return admitted

    def record(self, scope: str, *, passed: int, failed: int) -> Circuit | None:
        """Count a round's calls; return the circuit after it where it was written.

        Successes alone are written every ten seconds only: they cannot open a circuit, they only
        have to be there when failures are weighed.
        """
        now = self.now()
        with self._lock:
            kept, since = self._passed.pop(scope, (0, now))
            passed += kept if now - since < WINDOW_SECONDS else 0
            if not failed and now - since < _PASSED_KEPT_SECONDS:
                self._passed[scope] = (passed, since)
                return None

        def counted(circuit: Circuit) -> tuple[Circuit, Circuit]:
            after = circuit.counted(now, passed=passed, failed=failed)
            return after, after

        with suppress(UnavailableError):  # others count at the same time: a sample is enough
            return self.budgets.change_circuit(scope, now, counted)
        return None

    def end_probe(self, scope: str, round_id: str, *, failed: bool | None) -> Circuit | None:
        """Write what a probe showed; return the circuit after it, None where it was contended."""
        now = self.now()

        def ended(circuit: Circuit) -> tuple[Circuit, Circuit]:
            after = circuit.probe_ended(round_id, now, failed=failed)
            return after, after

        with suppress(UnavailableError):  # the leave to probe ends by itself
            return self.budgets.change_circuit(scope, now, ended)
        return None

    def _begin_probe(self, scope: str, round_id: str) -> bool:
        now = self.now()

        def begun(circuit: Circuit) -> tuple[Circuit, bool]:
            probed = circuit.probed_by(round_id, now, seconds=_PROBE_SECONDS)
            return (circuit, False) if probed is None else (probed, True)

        with suppress(UnavailableError):
            return self.budgets.change_circuit(scope, now, begun)
        return False

    def take_places(
        self,
        scope: str,
        limits: Limits,
        round_id: str,
        wanted: int,
        seconds_left: Callable[[], float],
    ) -> int:
        """Take up to ``wanted`` places in a scope for a round; return how many those are."""
        limit = limits.max_concurrency
        if limit is None:
            return wanted
        now, seconds = self.now(), seconds_left()
        with suppress(UnavailableError):
            return self.budgets.change_leases(
                scope,
                now,
                lambda leases: leases.taken(
                    round_id, now, wanted=wanted, limit=limit, seconds=seconds
                ),
            )
        return 0


class Admitted:
    """A round's leave: how many calls at the same time, and a turn for each.

    Use it as a context manager: leaving it gives the places back and writes down what was seen.
    """

    def __init__(
        self,
        admission: Admission,
        scope: str,
        limits: Limits,
        round_id: str,
        circuit: Circuit,
        *,
        places: int,
        probing: bool,
        seconds_left: Callable[[], float],
    ) -> None:
        self.concurrency = places
        self._admission = admission
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
        self.give_places_back()
        if self._probing:
            self._admission.end_probe(self._scope, self._round_id, failed=None)
        elif self._passed or self._failed:
            written = self._admission.record(self._scope, passed=self._passed, failed=self._failed)
            self._circuit = written or self._circuit

    @property
    def longest_pause_seconds(self) -> float:
        """How long a turn may take to begin."""
        return LONGEST_PAUSE_SECONDS if self._limits.requests_per_second else 0

    def wait_seconds(self) -> float:
        """Return how long the calls that were refused a turn have to wait, 0 if not at all."""
        now = self._admission.now()
        return max(self._circuit.wait(now), self._resume_at - now, 0)

    @contextmanager
    def turn(self, *, is_down: Callable[[Exception], bool | None]) -> Iterator[None]:
        """Wait for the moment of a call, made inside, and see how it ends.

        Args:
            is_down: whether an error shows that nothing could be answered at this moment; None of
                one that shows neither.

        Raises:
            TurnRefusedError: the moment is too far away, or the grader turned out to be down.
        """
        if self._stopped:
            raise TurnRefusedError
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
    def turn_now(self) -> Iterator[None]:
        """Give leave for one call more than was admitted, made inside and counted by nobody.

        Raises:
            TurnRefusedError: the grader cannot bear it at this very moment, or is being probed.
        """
        place = f"{self._round_id}-{secrets.token_hex(4)}"
        if self._stopped or self._probing:
            raise TurnRefusedError
        if not self._admission.take_places(self._scope, self._limits, place, 1, self._seconds_left):
            raise TurnRefusedError
        try:
            rate = self._limits.requests_per_second
            if rate is not None and not self._reserve(rate, horizon=0)[1]:
                raise TurnRefusedError
            yield
        finally:
            self._give_back(place)

    def give_places_back(self) -> None:
        """Let others have this round's places."""
        self._give_back(self._round_id)

    def _give_back(self, round_id: str) -> None:
        if self._limits.max_concurrency is None:
            return
        with suppress(UnavailableError):  # they come back by themselves
            self._admission.budgets.change_leases(
                self._scope,
                self._admission.now(),
                lambda leases: (leases.given_back(round_id), None),
            )

    def _reserve(self, rate: float, *, horizon: float) -> tuple[float, bool]:
        return self._admission.budgets.reserve_call(
            self._scope, self._admission.now(), interval=1 / rate, horizon=horizon
        )

    def _await_moment(self) -> None:
        rate = self._limits.requests_per_second
        if rate is None:
            return
        moment, reserved = self._reserve(rate, horizon=LONGEST_PAUSE_SECONDS)
        if not reserved:
            self._stopped, self._resume_at = True, moment
            raise TurnRefusedError
        self._admission.sleep(max(moment - self._admission.now(), 0))

    def _count(self, *, failed: bool) -> None:
        with self._lock:
            if self._probing:
                self._probing = False
                after = self._admission.end_probe(self._scope, self._round_id, failed=failed)
                self._circuit = after or self._circuit
                self._stopped = after is None or after.openings > 0
                return
            self._passed += not failed
            self._failed += failed
            seen = self._circuit.counted(
                self._admission.now(), passed=self._passed, failed=self._failed
            )
            self._stopped = self._stopped or seen.openings > 0
