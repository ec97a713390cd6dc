"""Ends a training whose execution could not go on."""

from functools import cache
from typing import Any

from autotune_platform.apprentice.training.progress import Under
from autotune_platform.runtime.environment.apprentice_training import TrainingEnvironment
from autotune_platform.runtime.training_jobs import SageMakerJobs
from autotune_platform.wiring.apprentice_training import TrainingParts


@cache
def parts() -> TrainingParts:
    """Return what this process is put together from."""
    return TrainingParts(TrainingEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> None:  # noqa: ARG001 - Lambda's signature
    """End the training as ``failed``, unless it has ended or was redriven; its job is stopped.

    What that cost is paid for by the sweep of trainings.
    """
    under = Under.of(event)
    job = parts().training_progress.job_of(under)
    if job is not None:
        SageMakerJobs().stop(job)
    parts().training_progress.give_up(under)
    parts().training_endings.is_over(under)
