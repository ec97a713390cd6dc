"""Have a chunk of completions graded: one round of a run."""

from functools import cache
from typing import Any

from autotune_platform.runs.progress import ChunkProgress
from autotune_platform.runtime.environment.scoring import GradingEnvironment
from autotune_platform.runtime.throttling import throttling_is_named
from autotune_platform.wiring.grading import GradingParts


@cache
def parts() -> GradingParts:
    """Return what this process is put together from."""
    return GradingParts(GradingEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Grade what has no verdict; return what is left and how long to wait."""
    with throttling_is_named():
        progress = parts().grading.grade(
            ChunkProgress.model_validate(event),
            seconds_left=lambda: context.get_remaining_time_in_millis() / 1000,
        )
    return progress.model_dump(mode="json")
