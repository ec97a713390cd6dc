"""Looks at what a job trained, before anybody loads it: a step of a training's execution."""

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
    """Do the step; ``done`` is whether this execution has nothing left to do."""
    under = Under.of(event)
    return {**under._asdict(), "done": parts().verify_step.run(under)}
