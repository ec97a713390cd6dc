"""Where the next job of a training is tried after one that had no instance."""

from datetime import UTC, datetime, timedelta

import pytest

from autotune_platform.apprentice.training.elsewhere import (
    MOST_LOSSES,
    is_given_up,
    plan_elsewhere,
)
from autotune_platform.apprentice.training.models import JobPlan, TrainingJob

NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)
FIRST, SECOND = "ml.g5.xlarge", "ml.g6.xlarge"
SPARSE = "no instance within 30 minutes"


def after(plan, *, planned, has_trained):
    """Return the plan after a job that was planned so many hours ago."""
    job = TrainingJob(
        name="autotune-trn-1-2",
        attempt=2,
        instance_type=(FIRST, SECOND)[plan.instance],
        price_nano_usd=1,
        reserved_nano_usd=1,
        periods=(),
        planned_at=NOW - timedelta(hours=planned),
    )
    types = (FIRST, SECOND)
    return plan_elsewhere(plan, job, types, said="no capacity", now=NOW, has_trained=has_trained)


def lacking(*, hours, losses=0):
    since = NOW - timedelta(hours=hours)
    return JobPlan(instance=1, without_since=since, lacks={FIRST: SPARSE}, losses=losses)


@pytest.mark.parametrize(("hours", "is_over"), [(23, False), (24, True)])
def test_a_day_counts_from_when_the_first_job_without_an_instance_was_planned(hours, is_over):
    first = after(JobPlan(), planned=hours, has_trained=False)
    assert first.without_since == NOW - timedelta(hours=hours)
    assert is_given_up(first, NOW) == is_over
    later = after(lacking(hours=hours), planned=1, has_trained=False)
    assert is_given_up(later, NOW) == is_over
    assert later.lacks == {FIRST: SPARSE, SECOND: "no capacity"}


@pytest.mark.parametrize("hours", [1, 24, 100])
def test_a_day_begins_anew_after_an_instance_that_was_lost(hours):
    found = after(lacking(hours=hours), planned=hours, has_trained=True)
    assert (found.without_since, found.lacks, found.losses) == (NOW, {SECOND: "no capacity"}, 1)
    assert not is_given_up(found, NOW)


def test_a_day_begins_anew_some_times_alone():
    last = after(lacking(hours=30, losses=MOST_LOSSES - 1), planned=30, has_trained=True)
    assert not is_given_up(last, NOW)
    assert is_given_up(
        after(lacking(hours=30, losses=last.losses), planned=1, has_trained=True), NOW
    )
    # What was resumed since, as it ran out of time, has lacked nothing.
    resumed = JobPlan(losses=last.losses)
    assert not is_given_up(after(resumed, planned=30, has_trained=True), NOW)
