"""Histograms whose counts can be added up: of latencies and of scores.

Latencies are counted as DDSketch does (Masson, Rim and Lee, "DDSketch: A Fast and Fully-Mergeable
Quantile Sketch with Relative-Error Guarantees", VLDB 2019, https://arxiv.org/abs/1908.10693):
bucket ``i`` counts latencies above ``gamma ** (i - 1)`` and up to ``gamma ** i``. So any quantile
is known to within 5 %, for any latencies and any order of adding up.
"""

import math
from collections.abc import Mapping

RELATIVE_ERROR = 0.05
SHORTEST_LATENCY_MS = 1
LONGEST_LATENCY_MS = 30 * 60 * 1_000
"""Shorter and longer latencies are counted as these bounds."""

SCORE_BUCKETS = 20

_GAMMA = (1 + RELATIVE_ERROR) / (1 - RELATIVE_ERROR)
_LOG_GAMMA = math.log(_GAMMA)


def latency_bucket(milliseconds: float) -> int:
    """Return the bucket of a latency, 0 to 144."""
    bounded = min(max(milliseconds, SHORTEST_LATENCY_MS), LONGEST_LATENCY_MS)
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
