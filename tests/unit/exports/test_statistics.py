"""What the manifest tells of scores is what NumPy would."""

import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune_platform.exports.statistics import MOST_IDS, Scores, Summary

UNIT = st.floats(min_value=0, max_value=1, allow_nan=False)


def summary_of(values: list[float]) -> Summary:
    summary = Summary()
    for value in values:
        summary.states["scored"] += 1
        summary.add_record(scores=[value], task_id="t", model_ids=["m"])
    return summary


@given(st.lists(st.lists(UNIT, max_size=30), min_size=1, max_size=5))
def test_merged_and_packed_summaries_agree_with_numpy(segments: list[list[float]]) -> None:
    total = Summary()
    for values in segments:
        total.merge(Summary.unpack(summary_of(values).pack()))
    everything = [value for values in segments for value in values]
    told = total.scores.distribution()
    assert total.records == total.scanned == len(everything)
    if not everything:
        assert told is None
        return
    assert told is not None
    assert told.mean == pytest.approx(statistics.fmean(everything), abs=1e-12)
    assert told.std == pytest.approx(float(np.std(everything)), abs=1e-9)
    assert (told.min, told.max) == (min(everything), max(everything))
    for share, value in (
        (25, told.percentiles.p25),
        (50, told.percentiles.p50),
        (75, told.percentiles.p75),
        (95, told.percentiles.p95),
    ):
        exact = float(np.percentile(everything, share, method="inverted_cdf"))
        assert math.isclose(value, exact, abs_tol=1e-4)


def test_a_spread_that_is_small_beside_the_mean_is_not_lost() -> None:
    scores = Scores()
    for n in range(10_000):
        scores.add(0.9 + 1e-9 * (n % 2))
    told = scores.distribution()
    assert told is not None
    assert told.std == pytest.approx(5e-10, rel=1e-3)


def test_ids_beyond_what_is_named_are_told_of() -> None:
    summary = Summary()
    for n in range(MOST_IDS + 1):
        summary.add_record(scores=[0.5], task_id="t", model_ids=[f"m{n}"])
    assert len(summary.model_ids) == MOST_IDS
    assert Summary.unpack(summary.pack()).truncated
    other = Summary()
    other.add_record(scores=[0.5], task_id="t", model_ids=["another"])
    assert not other.truncated
    other.merge(summary)
    assert other.truncated


def test_a_full_summary_fits_an_item() -> None:
    summary = Summary()
    for n in range(10_001):
        summary.add_record(
            scores=[n / 10_000], task_id=f"task_{n:026}", model_ids=[f"{n:05}" + "ü" * 195]
        )
    assert len(summary.pack()) < 350_000
