import statistics
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune import CompletionVerdict, Score, VerdictSummary

START = datetime(2026, 11, 21, tzinfo=UTC)


def verdict(state="scored", value=None, latency_ms=None, reason_code=None, submitted=START):
    decided = None if latency_ms is None else submitted + timedelta(milliseconds=latency_ms)
    score = None
    if value is not None:
        score = Score(
            id="scr_1",
            completion_id="cmp_1",
            grader_id="grd_1",
            grader_version="1",
            value=value,
            confidence=1,
            created_at=START,
        )
    return CompletionVerdict(
        completion_id="cmp_1",
        task_id="task_1",
        model_id="m",
        grader_id="grd_1",
        state=state,
        score=score,
        reason_code=reason_code,
        submitted_at=submitted,
        decided_at=decided,
        latency_ms=latency_ms,
    )


def report(*verdicts):
    summary = VerdictSummary()
    for one in verdicts:
        summary.add(one)
    return summary.report()


def test_nothing_gives_no_figures():
    empty = report()
    assert (empty.completions, empty.mean_score, empty.latency_p50_ms) == (0, None, None)
    assert empty.scored_per_second is None
    assert set(empty.counts) == {"scored", "abstained", "failed", "canceled", "pending"}


def test_only_scored_completions_make_the_mean():
    got = report(
        verdict(value=0.5, latency_ms=100),
        verdict(value=1.0, latency_ms=300),
        verdict(state="abstained", latency_ms=200),
        verdict(state="failed", reason_code="grader_timeout", latency_ms=400),
        verdict(state="canceled", latency_ms=1),
        verdict(state="pending"),
    )
    assert got.mean_score == 0.75
    assert got.counts == {"scored": 2, "abstained": 1, "failed": 1, "canceled": 1, "pending": 1}
    assert got.completions == 6
    assert got.reasons == {"grader_timeout": 1}
    assert got.latency_p50_ms == 200


@pytest.mark.parametrize(
    ("value", "bucket"), [(0.0, 0), (0.0999, 0), (0.1, 1), (0.3, 3), (0.7, 7), (0.99, 9), (1.0, 9)]
)
def test_buckets_hold_their_lower_bound(value, bucket):
    histogram = report(verdict(value=value)).histogram
    assert histogram.index(1) == bucket
    assert sum(histogram) == 1


@given(st.lists(st.integers(0, 5_000_000), min_size=1, max_size=200))
def test_percentiles_are_exact_to_four_digits(latencies):
    got = report(*(verdict(value=1.0, latency_ms=latency) for latency in latencies))
    ordered = sorted(latencies)
    for share, told in ((0.5, got.latency_p50_ms), (0.99, got.latency_p99_ms)):
        exact = ordered[max(0, -int(-share * len(ordered) // 1) - 1)]
        assert told == pytest.approx(exact, rel=1e-3, abs=0.5)


def test_throughput_runs_from_the_first_submission_to_the_last_verdict():
    got = report(
        verdict(value=1.0, latency_ms=1_000),
        verdict(
            value=1.0, latency_ms=500, submitted=START + timedelta(seconds=3, milliseconds=500)
        ),
        verdict(state="failed", latency_ms=1),
    )
    assert got.scored_per_second == pytest.approx(2 / 4)


@given(st.lists(st.floats(0, 1), min_size=1))
def test_the_mean_is_the_mean(values):
    got = report(*(verdict(value=value) for value in values))
    assert got.mean_score == pytest.approx(statistics.fmean(values))
