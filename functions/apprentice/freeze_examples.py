"""Freezes the examples of a training: the first step of its execution."""

from functools import cache
from typing import Any

from autotune_platform.apprentice.training.progress import Under
from autotune_platform.runtime.environment.apprentice_training import TrainingEnvironment
from autotune_platform.wiring.apprentice_training import TrainingParts


@cache
def parts() -> TrainingParts:
    """Return what this process is put together from."""
    return TrainingParts(TrainingEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Do the step.

    ``done`` is whether this execution has nothing left to do, and ``in_jobs`` where it goes on.
    """
    under = Under.of(event)
    done = parts().freeze_step.run(under)
    return {**under._asdict(), "done": done, "in_jobs": event.get("in_jobs", False)}
