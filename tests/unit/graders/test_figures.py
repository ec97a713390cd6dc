"""What is counted of verdicts, and what the counts say."""

from collections import Counter
from datetime import UTC, datetime
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.protocol.completions import ReasonCode, VerdictState
from autotune.protocol.statistics import GraderFigures
from autotune_platform.projections.figures import STATES, counts_of, figure_fields
from autotune_platform.verdicts.decisions import Decision
from autotune_platform.verdicts.models import Verdict

NOW = datetime(2026, 11, 21, tzinfo=UTC)


def verdict(**fields: Any) -> Decision:
    made = Verdict(
        **{
            "completion_id": "cmp_1",
            "organization_id": "org_1",
            "batch_id": "bat_1",
            "task_id": "task_1",
            "model_id": "m",
            "grader_id": "grd_1",
            "grader_version": "1",
            "submitted_at": NOW,
            "decided_at": NOW,
            **fields,
        }
    )
    return Decision.of(made)


LATENCY = st.none() | st.integers(0, 40_000)
VERDICTS = st.lists(
    st.one_of(
        st.builds(
            verdict,
            state=st.just("scored"),
            value=st.floats(0, 1),
            grader_latency_ms=LATENCY,
        ),
        st.builds(verdict, state=st.just("abstained"), grader_latency_ms=LATENCY),
        st.builds(
            verdict,
            state=st.just("failed"),
            reason_code=st.sampled_from(get_args(ReasonCode)),
            grader_latency_ms=LATENCY,
        ),
        st.builds(verdict, state=st.just("canceled")),
    ),
    max_size=60,
)


def told(counts: Counter[str]) -> GraderFigures:
    return GraderFigures(**figure_fields(counts))


@given(VERDICTS, st.data())
def test_what_any_split_counts_adds_up_to_what_the_whole_counts(
    verdicts: list[Decision], data: st.DataObject
) -> None:
    lanes = data.draw(st.lists(st.integers(0, 3), min_size=len(verdicts), max_size=len(verdicts)))
    merged: Counter[str] = Counter()
    for lane in range(4):
        merged.update(
            counts_of(one for one, its in zip(verdicts, lanes, strict=True) if its == lane)
        )
    assert told(merged) == told(counts_of(verdicts))


@given(VERDICTS)
def test_every_verdict_is_counted_in_its_state_and_every_failure_by_its_reason(
    verdicts: list[Decision],
) -> None:
    figures = told(counts_of(verdicts))
    states = Counter(one.state for one in verdicts)
    assert figures.counts.model_dump() == {state: states[state] for state in STATES}
    assert figures.failures == Counter(one.reason_code for one in verdicts if one.reason_code)
    values = [one.value for one in verdicts if one.value is not None]
    assert sum(figures.score_distribution) == figures.total_scored == len(values)
    if values:
        assert figures.avg_score == pytest.approx(sum(values) / len(values), abs=1e-9)
    latencies = [one.grader_latency_ms for one in verdicts if one.grader_latency_ms is not None]
    if latencies:
        assert figures.avg_latency_ms == pytest.approx(sum(latencies) / len(latencies))


def test_a_score_too_small_for_a_sum_is_still_a_score() -> None:
    figures = told(counts_of([verdict(state="scored", value=5e-324)]))
    assert (figures.total_scored, figures.avg_score) == (1, 0)


def test_of_nothing_the_figures_are_zeros_and_nulls() -> None:
    figures = told(Counter())
    assert figures.model_dump() == {
        "total_scored": 0,
        "counts": {"scored": 0, "abstained": 0, "failed": 0, "canceled": 0},
        "failures": {},
        "error_rate": None,
        "avg_score": None,
        "score_distribution": [0] * 20,
        "avg_latency_ms": None,
        "p50_latency_ms": None,
        "p99_latency_ms": None,
        "late_answers": 0,
    }


def test_what_was_canceled_is_no_error_and_no_success() -> None:
    states = ["scored", "abstained", "failed", "canceled", "canceled"]
    figures = told(Counter(states))
    assert figures.error_rate == pytest.approx(1 / 3)


def test_every_state_of_a_verdict_is_counted() -> None:
    assert get_args(VerdictState) == STATES
