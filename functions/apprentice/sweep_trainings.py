"""Redrives trainings whose execution was lost, begins those that are due, and ends jobs of none.

It runs every minute.
"""

from functools import cache
from typing import Any

from autotune_platform.runtime.environment.apprentice_training import TrainingSweepEnvironment
from autotune_platform.wiring.apprentice_training import TrainingSweepParts

_LAST_SECONDS = 5


@cache
def parts() -> TrainingSweepParts:
    """Return what this process is put together from."""
    return TrainingSweepParts(TrainingSweepEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Sweep; return how many trainings were overdue, how many began, and how many jobs were due."""

    def has_time() -> bool:
        return bool(context.get_remaining_time_in_millis() > _LAST_SECONDS * 1_000)

    overdue = jobs = 0
    try:
        overdue = parts().training_sweeping.sweep(has_time=has_time)
    finally:
        # Whatever failed of those, others are due.
        try:
            jobs = parts().job_watching.sweep(has_time=has_time)
        finally:
            began = parts().training_starting.sweep(has_time=has_time)
    return {"overdue": overdue, "began": began, "jobs": jobs}
