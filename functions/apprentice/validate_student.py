"""Judges a student by examples that it never saw: a step of a training's execution."""

from functools import cache
from typing import Any

from autotune_platform.apprentice.training.progress import Under
from autotune_platform.runtime.environment.apprentice_training import TrainingEnvironment
from autotune_platform.wiring.apprentice_learning import LearningParts


@cache
def parts() -> LearningParts:
    """Return what this process is put together from."""
    return LearningParts(TrainingEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Do the step; ``done`` is whether this execution has nothing left to do."""
    under = Under.of(event)

    def seconds_left() -> float:
        return float(context.get_remaining_time_in_millis()) / 1_000

    done = parts().validate_step.run(under, seconds_left=seconds_left)
    return {**under._asdict(), "done": done}
