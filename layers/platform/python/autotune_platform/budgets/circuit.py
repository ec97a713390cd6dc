"""A grader's circuit breaker as pure state: nothing here reads a clock or a table.

Closed, calls pass and their outcomes are counted; open, nothing passes for a while; then half-open,
one probe at a time may show that the grader is back (M. Nygard, "Release It!", 2nd ed., 5.3).
"""

from typing import Literal, Self

from autotune.protocol.completions import ReasonCode
from autotune.protocol.retry import RetryPolicy
from autotune_platform.runtime.frozen_model import FrozenModel

WINDOW_SECONDS = 60
_BUCKET_SECONDS = 10
_FEWEST_CALLS = 10
_FAILED_SHARE = 0.5
_FAILED_IN_A_ROW = 3
_OPEN = RetryPolicy(first_seconds=30, longest_seconds=600)

Phase = Literal["closed", "open", "half-open"]


class Outcomes(FrozenModel):
    """Outcomes of the calls in ten seconds; ``failed`` counts those that found the grader down."""

    passed: int = 0
    failed: int = 0


class Circuit(FrozenModel):
    """A grader's circuit breaker; times are Unix seconds.

    Attributes:
        recent: outcomes since the circuit closed, by bucket: Unix seconds divided by ten.
        openings: how often it opened since it was last closed; 0 while it is closed.
        open_until: no call is permitted before.
        probe: the round that may send a probe, while the circuit is half-open.
        probe_until: when that round's permit to probe ends.
        in_a_row: rounds' failures since a call last passed, however long ago they were.
        failed_at: when a call last found the grader down.
        passed_at: when a call was last answered. While nothing fails, this is not kept.
        reason_code: what the last call failed with that found the grader down.
    """

    recent: dict[int, Outcomes] = {}
    openings: int = 0
    open_until: float = 0
    probe: str | None = None
    probe_until: float = 0
    in_a_row: int = 0
    failed_at: float = 0
    passed_at: float = 0
    reason_code: ReasonCode | None = None

    def phase(self, now: float) -> Phase:
        """Return whether calls pass."""
        if not self.openings:
            return "closed"
        return "open" if now < self.open_until else "half-open"

    def wait(self, now: float) -> float:
        """Return the seconds until a probe may be requested, 0 if it may be now."""
        until = self.probe_until if self.probe else 0
        return max(self.open_until - now, until - now, 0) if self.openings else 0

    def probed_by(self, round_id: str, now: float, *, seconds: float) -> Self | None:
        """Return the circuit with a probe under way, None if no probe may start."""
        if self.phase(now) != "half-open" or self.wait(now) > 0:
            return None
        return self.model_copy(update={"probe": round_id, "probe_until": now + seconds})

    def probe_ended(
        self,
        round_id: str,
        now: float,
        *,
        failed: bool | None,
        reason_code: ReasonCode | None = None,
    ) -> Self:
        """Return the circuit after a probe: closed, open for longer, or free for another probe.

        Args:
            failed: None if the round made no call after all, or the grader refused it as too many.
            reason_code: what it failed with.
        """
        if self.probe != round_id:
            return self  # it took too long, and another round may probe now
        if failed is None:
            return self.model_copy(update={"probe": None, "probe_until": 0})
        return self.opened(now, reason_code) if failed else type(self)(passed_at=now)

    def counted(
        self, now: float, *, passed: int, failed: int, reason_code: ReasonCode | None = None
    ) -> Self:
        """Return the circuit with the outcomes of calls added; it is open if too many failed.

        Too many are half of at least ten within a minute, or three in a row while none passed
        within a minute, however sparse the traffic is.
        """
        if self.openings:
            return self  # these calls began before it opened
        bucket = int(now // _BUCKET_SECONDS)
        oldest = bucket - WINDOW_SECONDS // _BUCKET_SECONDS + 1
        recent = {index: outcomes for index, outcomes in self.recent.items() if index >= oldest}
        before = recent.get(bucket, Outcomes())
        recent[bucket] = Outcomes(passed=before.passed + passed, failed=before.failed + failed)
        calls = sum(outcomes.passed + outcomes.failed for outcomes in recent.values())
        passes = any(outcomes.passed for outcomes in recent.values())
        in_a_row = 0 if passes else self.in_a_row + failed
        failures = sum(outcomes.failed for outcomes in recent.values())
        mostly = calls >= _FEWEST_CALLS and failures >= calls * _FAILED_SHARE
        changes: dict[str, object] = {"recent": recent, "in_a_row": in_a_row}
        changes |= {"failed_at": now, "reason_code": reason_code} if failed else {}
        changes |= {"passed_at": now} if passed else {}
        after = self.model_copy(update=changes)
        return after.opened(now, reason_code) if mostly or in_a_row >= _FAILED_IN_A_ROW else after

    def opened(self, now: float, reason_code: ReasonCode | None = None) -> Self:
        """Return the circuit open, for longer than the last time, and for this reason."""
        openings = self.openings + 1
        return type(self)(
            openings=openings,
            open_until=now + _OPEN.ceiling(openings),
            failed_at=now,
            passed_at=self.passed_at,
            reason_code=reason_code or self.reason_code,
        )
