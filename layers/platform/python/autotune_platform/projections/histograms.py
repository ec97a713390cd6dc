"""Histograms whose counts can be added up: of latencies and of scores.

Latencies are counted as DDSketch does (Masson, Rim and Lee, "DDSketch: A Fast and Fully-Mergeable
Quantile Sketch with Relative-Error Guarantees", VLDB 2019, https://arxiv.org/abs/1908.10693):
bucket ``i`` holds what lies above ``gamma ** (i - 1)`` and up to ``gamma ** i``, so that any
quantile is known to 5 %, whatever the latencies are and however the counts came together.
"""

import math
from collections.abc import Mapping

RELATIVE_ERROR = 0.05
SHORTEST_LATENCY_MS = 1
LONGEST_LATENCY_MS = 30 * 60 * 1_000
"""What is shorter or longer counts as these."""

SCORE_BUCKETS = 20

_GAMMA = (1 + RELATIVE_ERROR) / (1 - RELATIVE_ERROR)
_LOG_GAMMA = math.log(_GAMMA)


def latency_bucket(milliseconds: float) -> int:
    """Return the bucket of a latency, 0 to 144."""
    bounded = min(max(milliseconds, SHORTEST_LATENCY_MS), LONGEST_LATENCY_MS)
    return math.ceil(math.log(bounded) / _LOG_GAMMA)


def latency_quantile(buckets: Mapping[int, int], quantile: float) -> float | None:
    """Return a quantile of counted latencies in milliseconds, to 5 %; None where there are none.

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
    # As far from the lower end of the bucket as from the upper, in proportion.
    return float(2 * _GAMMA**bucket / (_GAMMA + 1))


def score_bucket(value: float) -> int:
    """Return the bucket of a score from 0 to 1: 20 equal ones, the last with 1.0."""
    return min(int(value * SCORE_BUCKETS), SCORE_BUCKETS - 1)
