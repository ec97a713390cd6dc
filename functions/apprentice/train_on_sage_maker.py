"""Looks after jobs that train a model: a step of a training's execution, again and again."""

from functools import cache
from typing import Any

from autotune_platform.apprentice.training.progress import Under
from autotune_platform.runtime.environment.apprentice_training import TrainingJobEnvironment
from autotune_platform.wiring.apprentice_training import TrainingJobParts


@cache
def parts() -> TrainingJobParts:
    """Return what this process is put together from."""
    return TrainingJobParts(TrainingJobEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Look once.

    ``done`` is whether this execution has nothing left to do, ``waits`` whether to look again after
    ``seconds``, and ``job`` the name of the job under way.
    """
    under = Under.of(event)
    found = parts().sagemaker_step.run(under, job=event.get("job"))
    waits = not found.is_over and found.seconds is not None
    return {
        **under._asdict(),
        "done": found.is_over,
        "waits": waits,
        "seconds": found.seconds or 0,
        "job": found.job,
    }
