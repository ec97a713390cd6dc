"""Where the next job is tried after one had no instance: pure, from what was tried before."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from autotune_platform.apprentice.training.jobs import Found
from autotune_platform.apprentice.training.models import JobPlan, TrainingJob

TRY_AGAIN_AFTER: Final = timedelta(minutes=10)
"""So long after there was none of the last type the first one is tried again."""
GIVE_UP_AFTER: Final = timedelta(hours=24)
"""So long there may be no capacity."""
MOST_LOSSES: Final = 3
"""So many jobs that lose their instance have that day begin anew: each of them is paid for."""
WAIT_FOR_INSTANCE: Final = timedelta(minutes=30)
"""So long a job may wait for its first instance before the next type is tried.

SageMaker itself ends one that waits for spot after ``jobs.WAIT_FOR_SPOT_S`` beyond its time to run.
"""


def waits_too_long(found: Found, now: datetime) -> bool:
    """Return whether a job that runs has waited long enough for its first instance."""
    return found.waits_since is not None and now - found.waits_since >= WAIT_FOR_INSTANCE


def lack_of(job: TrainingJob, found: Found) -> str:
    """Return in words that a job had no instance."""
    if job.is_given_up:
        return f"no instance within {int(WAIT_FOR_INSTANCE.total_seconds() / 60)} minutes"
    return found.reason or "no capacity"


def plan_elsewhere(
    plan: JobPlan,
    job: TrainingJob,
    types: Sequence[str],
    *,
    said: str,
    now: datetime,
    has_trained: bool,
) -> JobPlan:
    """Return how it goes on after a job without an instance: with the next type.

    After the last type comes the first, some time later.

    Args:
        plan: how the job was planned.
        types: ``training.instanceTypes``.
        said: that there was no instance for the job, in words.
        has_trained: whether it had an instance, and lost it: what lacked before counts no more.
    """
    begins_anew = has_trained and (plan.losses < MOST_LOSSES or plan.without_since is None)
    since = now if begins_anew else plan.without_since or job.planned_at
    is_last = plan.instance + 1 >= len(types)
    changes = {
        "losses": plan.losses + has_trained,
        "lacks": {**({} if begins_anew else plan.lacks), job.instance_type: said},
        "instance": 0 if is_last else plan.instance + 1,
        "not_before": now + TRY_AGAIN_AFTER if is_last else None,
        "without_since": since,
    }
    return plan.model_copy(update=changes)


def is_given_up(plan: JobPlan, now: datetime) -> bool:
    """Return whether there was no instance for so long that none is tried any more."""
    return plan.without_since is not None and now - plan.without_since >= GIVE_UP_AFTER
