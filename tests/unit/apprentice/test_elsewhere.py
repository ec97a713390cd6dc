"""For how long jobs are planned that get no instance."""

from datetime import UTC, datetime, timedelta

from autotune_platform.apprentice.training.elsewhere import GIVE_UP_AFTER, plan_elsewhere
from autotune_platform.apprentice.training.models import JobPlan, TrainingJob

NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)
FIRST, SECOND = TYPES = ("ml.g5.xlarge", "ml.g5.2xlarge")


def job(at):
    return TrainingJob(
        name="job",
        attempt=1,
        instance_type=FIRST,
        price_nano_usd=1,
        reserved_nano_usd=1,
        periods=(),
        planned_at=at,
    )


def after(plan, planned_at, now, *, has_trained=False):
    return plan_elsewhere(plan, job(planned_at), TYPES, now=now, has_trained=has_trained)


def test_a_day_counts_from_the_first_of_the_jobs_in_a_row_that_had_no_instance():
    half_an_hour = timedelta(minutes=30)
    plan = after(JobPlan(), NOW, NOW + half_an_hour)
    assert (plan.instance, plan.without_since, plan.not_before) == (1, NOW, None)
    late = NOW + GIVE_UP_AFTER
    assert after(plan, NOW + half_an_hour, late - timedelta(seconds=1)).instance == 0
    assert after(plan, NOW + half_an_hour, late) is None


def test_a_job_that_had_an_instance_begins_that_day_anew():
    plan = after(JobPlan(), NOW, NOW + timedelta(minutes=30))
    lost = NOW + timedelta(days=2)
    plan = after(plan, NOW + timedelta(minutes=30), lost, has_trained=True)
    assert plan.without_since == lost
    assert after(plan, lost, lost + GIVE_UP_AFTER - timedelta(seconds=1)) is not None
    assert after(plan, lost, lost + GIVE_UP_AFTER) is None
