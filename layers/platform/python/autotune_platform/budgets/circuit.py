"""A grader's circuit breaker as pure state: nothing here reads a clock or a table.

Closed, calls pass and their outcomes are counted; open, nothing passes for a while; then half-open,
one probe at a time may show that the grader is back (M. Nygard, "Release It!", 2nd ed., 5.3).
"""

from typing import Literal, Self

from autotune_platform.runtime.frozen_model import FrozenModel

WINDOW_SECONDS = 60
_BUCKET_SECONDS = 10
_FEWEST_CALLS = 10
_FAILED_SHARE = 0.5
_FIRST_OPEN_SECONDS = 30
_LONGEST_OPEN_SECONDS = 600

Phase = Literal["closed", "open", "half-open"]


class Outcomes(FrozenModel):
    """Calls of ten seconds; ``failed`` ones found the grader down, whatever they asked."""

    passed: int = 0
    failed: int = 0


class Circuit(FrozenModel):
    """What is known of a grader's health; times are Unix seconds.

    Attributes:
        recent: outcomes since the circuit closed, by the number of their ten seconds.
        openings: how often it opened since it was last closed; 0 is closed.
        open_until: nothing is called before.
        probe: the round that may call now, while half-open.
        probe_until: when that round has lost its leave.
    """

    recent: dict[int, Outcomes] = {}
    openings: int = 0
    open_until: float = 0
    probe: str | None = None
    probe_until: float = 0

    def phase(self, now: float) -> Phase:
        """Tell whether calls pass."""
        if not self.openings:
            return "closed"
        return "open" if now < self.open_until else "half-open"

    def wait(self, now: float) -> float:
        """Return the seconds until it is worth asking for a probe, 0 where it is now."""
        until = self.probe_until if self.probe else 0
        return max(self.open_until - now, until - now, 0) if self.openings else 0

    def probed_by(self, round_id: str, now: float, *, seconds: float) -> Self | None:
        """Return the circuit with a probe under way, None where none may start."""
        if self.phase(now) != "half-open" or self.wait(now) > 0:
            return None
        return self.model_copy(update={"probe": round_id, "probe_until": now + seconds})

    def probe_ended(self, round_id: str, now: float, *, failed: bool | None) -> Self:
        """Return the circuit after a probe: closed, open for longer, or free for another probe.

        Args:
            failed: None where the probe called nobody after all.
        """
        if self.probe != round_id:
            return self  # it took too long, and another round has the leave now
        if failed is None:
            return self.model_copy(update={"probe": None, "probe_until": 0})
        return self._opened(now) if failed else type(self)()

    def counted(self, now: float, *, passed: int, failed: int) -> Self:
        """Return the circuit with the outcomes of calls, open where too many failed."""
        if self.openings:
            return self  # calls from before it opened say nothing new
        bucket = int(now // _BUCKET_SECONDS)
        oldest = bucket - WINDOW_SECONDS // _BUCKET_SECONDS + 1
        recent = {index: outcomes for index, outcomes in self.recent.items() if index >= oldest}
        before = recent.get(bucket, Outcomes())
        recent[bucket] = Outcomes(passed=before.passed + passed, failed=before.failed + failed)
        calls = sum(outcomes.passed + outcomes.failed for outcomes in recent.values())
        failures = sum(outcomes.failed for outcomes in recent.values())
        if calls >= _FEWEST_CALLS and failures >= calls * _FAILED_SHARE:
            return self._opened(now)
        return self.model_copy(update={"recent": recent})

    def _opened(self, now: float) -> Self:
        # The exponent is bounded before the power is: a grader may be gone for weeks.
        seconds = min(_FIRST_OPEN_SECONDS * 2 ** min(self.openings, 10), _LONGEST_OPEN_SECONDS)
        return type(self)(openings=self.openings + 1, open_until=now + seconds)
