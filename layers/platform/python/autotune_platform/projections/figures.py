"""Counts of verdicts, and the figures that follow from them.

Counts are integers by attribute name. The counts of two groups of verdicts add up to the counts of
both, in any order. So many functions may write them at the same time, spread over several items.

Latencies are counted as DDSketch does (Masson, Rim and Lee, "DDSketch: A Fast and Fully-Mergeable
Quantile Sketch with Relative-Error Guarantees", VLDB 2019, https://arxiv.org/abs/1908.10693):
bucket ``i`` counts latencies above ``gamma ** (i - 1)`` and up to ``gamma ** i``. So any quantile
is known to within 5 %, for any latencies and any order of adding up.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from autotune.protocol.statistics import StateCounts
from autotune_platform.verdicts.decisions import Decision

RELATIVE_ERROR = 0.05
SHORTEST_LATENCY_MS = 1
LONGEST_LATENCY_MS = 30 * 60 * 1_000
"""Shorter and longer latencies are counted as these bounds."""
LONGEST_TURNAROUND_MS = 7 * 86_400_000
"""As long as a completion may take; longer ones, such as a grader's late answer, count as this."""

SCORE_BUCKETS = 20

_GAMMA = (1 + RELATIVE_ERROR) / (1 - RELATIVE_ERROR)
_LOG_GAMMA = math.log(_GAMMA)

STATES = ("scored", "abstained", "failed", "canceled")

_FAILURE = "failure#"
_LATENCY = "latency#"
_SCORE = "score#"
# Short, because an item may have a hundred of them, and each kilobyte of it is paid.
_TURNAROUND = "turn#"
_LATENCY_SUM = "latency_ms"
_LATE_ANSWERS = "late_answers"
# Whole billionths, because sums of fractions depend on their order.
_SCORE_SUM = "score_billionths"
_BILLION = 1_000_000_000


def turnarounds_of(milliseconds: Iterable[float]) -> Counter[str]:
    """Return the counts of how long completions took, from their submission to their verdict."""
    return Counter(f"{_TURNAROUND}{turnaround_bucket(one)}" for one in milliseconds)


def counts_of(decisions: Iterable[Decision]) -> Counter[str]:
    """Return the counts of decisions."""
    counts: Counter[str] = Counter()
    for one in decisions:
        counts[one.state] += 1
        if one.reason_code is not None and one.state == "failed":
            counts[_FAILURE + one.reason_code] += 1
        if one.value is not None:
            counts[f"{_SCORE}{score_bucket(one.value)}"] += 1
            counts[_SCORE_SUM] += round(one.value * _BILLION)
        if one.grader_latency_ms is not None:
            counts[f"{_LATENCY}{latency_bucket(one.grader_latency_ms)}"] += 1
            counts[_LATENCY_SUM] += one.grader_latency_ms
    return counts


def without(counts: Mapping[str, int], *, scores: bool, latencies: bool) -> Counter[str]:
    """Return counts without the histogram of scores, or without graders' latencies, or both."""
    left_out = [_SCORE] * scores + [_LATENCY, _LATENCY_SUM] * latencies
    return Counter(
        {name: value for name, value in counts.items() if not name.startswith(tuple(left_out))}
    )


def states_in(counts: Mapping[str, int]) -> StateCounts:
    """Return the number of verdicts in each state."""
    return StateCounts(**{state: counts.get(state, 0) for state in STATES})


def bucket_fields(counts: Mapping[str, int]) -> dict[str, Any]:
    """Return counts as fields of ``WindowFigures``; a figure without any count is None."""
    states = states_in(counts)
    turnarounds = {int(at): count for at, count in _with_prefix(_TURNAROUND, counts).items()}
    return {
        "counts": states,
        "failures": dict(sorted(_with_prefix(_FAILURE, counts).items())),
        "avg_score": _ratio(counts.get(_SCORE_SUM, 0), states.scored * _BILLION),
        "p50_turnaround_ms": latency_quantile(turnarounds, 0.5),
        "p99_turnaround_ms": latency_quantile(turnarounds, 0.99),
    }


def score_distribution(counts: Mapping[str, int]) -> list[int]:
    """Return how many scores are in each of 20 equal intervals."""
    return [counts.get(f"{_SCORE}{bucket}", 0) for bucket in range(SCORE_BUCKETS)]


def figure_fields(counts: Mapping[str, int]) -> dict[str, Any]:
    """Return counts as fields of ``GraderFigures``; a figure without any count is None."""
    states = states_in(counts)
    answered = states.scored + states.abstained + states.failed
    latencies = {int(bucket): count for bucket, count in _with_prefix(_LATENCY, counts).items()}
    return {
        "total_scored": states.scored,
        "counts": states,
        "failures": dict(sorted(_with_prefix(_FAILURE, counts).items())),
        "error_rate": _ratio(states.failed, answered),
        "avg_score": _ratio(counts.get(_SCORE_SUM, 0), states.scored * _BILLION),
        "score_distribution": score_distribution(counts),
        "avg_latency_ms": _ratio(counts.get(_LATENCY_SUM, 0), sum(latencies.values())),
        "p50_latency_ms": latency_quantile(latencies, 0.5),
        "p99_latency_ms": latency_quantile(latencies, 0.99),
        "late_answers": counts.get(_LATE_ANSWERS, 0),
    }


def _with_prefix(prefix: str, counts: Mapping[str, int]) -> dict[str, int]:
    return {
        name.removeprefix(prefix): count
        for name, count in counts.items()
        if name.startswith(prefix)
    }


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def latency_bucket(milliseconds: float) -> int:
    """Return the bucket of a latency, 0 to 144."""
    bounded = min(max(milliseconds, SHORTEST_LATENCY_MS), LONGEST_LATENCY_MS)
    return math.ceil(math.log(bounded) / _LOG_GAMMA)


def turnaround_bucket(milliseconds: float) -> int:
    """Return the bucket of a turnaround, 0 to 202, as that of a latency but up to a week."""
    bounded = min(max(milliseconds, SHORTEST_LATENCY_MS), LONGEST_TURNAROUND_MS)
    return math.ceil(math.log(bounded) / _LOG_GAMMA)


def latency_quantile(buckets: Mapping[int, int], quantile: float) -> float | None:
    """Return a quantile of counted latencies in milliseconds, to within 5 %; None without any.

    Args:
        buckets: how many latencies are in each bucket.
        quantile: 0 to 1; of ``n`` latencies the one of rank ``1 + floor(quantile * (n - 1))``.
    """
    total = sum(buckets.values())
    if not total:
        return None
    rank = math.floor(quantile * (total - 1))
    seen = 0
    for bucket in sorted(buckets):
        seen += buckets[bucket]
        if seen > rank:
            break
    # The value with the same relative distance to both ends of the bucket.
    return float(2 * _GAMMA**bucket / (_GAMMA + 1))


def score_bucket(value: float) -> int:
    """Return the bucket of a score from 0 to 1. There are 20 equal ones; the last includes 1.0."""
    return min(int(value * SCORE_BUCKETS), SCORE_BUCKETS - 1)
