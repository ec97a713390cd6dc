"""Quantiles are known to 5 %, and histograms add up."""

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune_platform.projections.figures import (
    LONGEST_LATENCY_MS,
    RELATIVE_ERROR,
    SCORE_BUCKETS,
    latency_bucket,
    latency_quantile,
    score_bucket,
)

LATENCIES = st.lists(st.integers(1, LONGEST_LATENCY_MS), min_size=1, max_size=300)
QUANTILES = st.sampled_from([0.0, 0.25, 0.5, 0.9, 0.99, 1.0]) | st.floats(0, 1)


def counted(latencies: list[int]) -> Counter[int]:
    return Counter(map(latency_bucket, latencies))


@given(LATENCIES, QUANTILES)
def test_a_quantile_is_within_five_percent_of_the_exact_one(
    latencies: list[int], quantile: float
) -> None:
    exact = sorted(latencies)[math.floor(quantile * (len(latencies) - 1))]
    estimate = latency_quantile(counted(latencies), quantile)
    assert estimate is not None
    assert abs(estimate - exact) <= RELATIVE_ERROR * exact * (1 + 1e-9)


@given(LATENCIES, st.data())
def test_the_counts_of_any_split_add_up_to_those_of_the_whole(
    latencies: list[int], data: st.DataObject
) -> None:
    cuts = data.draw(st.lists(st.integers(0, len(latencies)), max_size=5).map(sorted))
    merged: Counter[int] = Counter()
    for start, end in zip([0, *cuts], [*cuts, len(latencies)], strict=True):
        merged.update(counted(latencies[start:end]))
    assert merged == counted(latencies)


def test_every_latency_has_one_of_145_buckets() -> None:
    assert latency_bucket(0) == latency_bucket(1) == 0
    assert latency_bucket(LONGEST_LATENCY_MS) == latency_bucket(10**12) == 144


def test_of_nothing_there_is_no_quantile() -> None:
    assert latency_quantile({}, 0.99) is None


@pytest.mark.parametrize("bucket", range(SCORE_BUCKETS))
def test_a_score_on_a_boundary_is_in_the_bucket_above(bucket: int) -> None:
    assert score_bucket(bucket / SCORE_BUCKETS) == bucket


def test_the_last_bucket_holds_one() -> None:
    assert score_bucket(1.0) == score_bucket(0.9999) == SCORE_BUCKETS - 1
