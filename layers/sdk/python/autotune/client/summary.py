"""What came out of many completions, in bounded memory."""

import math
from collections import Counter
from datetime import datetime
from typing import get_args

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from autotune.protocol.completions import CompletionState, CompletionVerdict, VerdictState

HISTOGRAM_BUCKETS = 10
_EXACT_DIGITS = 4


class SummaryReport(BaseModel):
    """The figures of a ``VerdictSummary``, camelCase as JSON.

    Attributes:
        counts: completions by state; every state is there.
        mean_score: over the scored, 0 to 1; None if none is.
        histogram: scored completions by value: [0, 0.1), [0.1, 0.2) … [0.9, 1].
        reasons: failed completions by reason code.
        latency_p50_ms: submission to verdict, over all decided.
        scored_per_second: from the first submission to the last verdict; None if no time passed.
    """

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True)

    completions: int
    counts: dict[CompletionState, int]
    mean_score: float | None
    histogram: list[int]
    reasons: dict[str, int]
    latency_p50_ms: int | None
    latency_p99_ms: int | None
    scored_per_second: float | None


class VerdictSummary:
    """Adds verdicts up.

    Percentiles are exact to four significant digits of a millisecond count (nearest rank), so that
    memory stays bounded however many verdicts are added.
    """

    def __init__(self) -> None:
        self._counts: Counter[CompletionState] = Counter()
        self._histogram = [0] * HISTOGRAM_BUCKETS
        self._score_total = 0.0
        self._reasons: Counter[str] = Counter()
        self._latencies: Counter[int] = Counter()
        self._first_submitted: datetime | None = None
        self._last_decided: datetime | None = None

    def add(self, verdict: CompletionVerdict) -> None:
        """Count one completion, pending or decided."""
        self._counts[verdict.state] += 1
        if verdict.state == "scored" and verdict.score is not None:
            value = verdict.score.value
            self._score_total += value
            self._histogram[min(int(value * HISTOGRAM_BUCKETS), HISTOGRAM_BUCKETS - 1)] += 1
        if verdict.state == "failed" and verdict.reason_code is not None:
            self._reasons[verdict.reason_code] += 1
        if verdict.latency_ms is not None:
            self._latencies[_rounded(verdict.latency_ms)] += 1
        submitted, decided = verdict.submitted_at, verdict.decided_at
        self._first_submitted = min(self._first_submitted or submitted, submitted)
        if decided is not None:
            self._last_decided = max(self._last_decided or decided, decided)

    @property
    def scored(self) -> int:
        """How many have a score."""
        return self._counts["scored"]

    @property
    def completions(self) -> int:
        """How many were added."""
        return self._counts.total()

    @property
    def failed(self) -> int:
        """How many failed."""
        return self._counts["failed"]

    def report(self) -> SummaryReport:
        """Return the figures so far."""
        states: tuple[CompletionState, ...] = (*get_args(VerdictState), "pending")
        return SummaryReport(
            completions=self.completions,
            counts={state: self._counts[state] for state in states},
            mean_score=self._score_total / self.scored if self.scored else None,
            histogram=list(self._histogram),
            reasons=dict(self._reasons.most_common()),
            latency_p50_ms=self._percentile(0.50),
            latency_p99_ms=self._percentile(0.99),
            scored_per_second=self._throughput(),
        )

    def _percentile(self, share: float) -> int | None:
        rank = math.ceil(share * self._latencies.total())
        seen = 0
        for latency in sorted(self._latencies):
            seen += self._latencies[latency]
            if seen >= rank:
                return latency
        return None

    def _throughput(self) -> float | None:
        if self._first_submitted is None or self._last_decided is None:
            return None
        seconds = (self._last_decided - self._first_submitted).total_seconds()
        return self.scored / seconds if seconds > 0 else None


def _rounded(milliseconds: int) -> int:
    digits = len(str(milliseconds))
    return round(milliseconds, min(0, _EXACT_DIGITS - digits))
