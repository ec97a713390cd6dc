"""Let a run wait: for graders' callbacks, for people's reviews, or for a grader that is down."""

from functools import cache
from typing import Any

from autotune_platform.runs.progress import ChunkProgress
from autotune_platform.runtime.environment.scoring import AwaitEnvironment
from autotune_platform.runtime.throttling import throttling_is_named
from autotune_platform.wiring.waits import AwaitParts


@cache
def parts() -> AwaitParts:
    """Return what this process is put together from."""
    return AwaitParts(AwaitEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> None:  # noqa: ARG001 - Lambda's signature
    """Store the token that ends the wait; the state machine goes on when somebody sends it."""
    with throttling_is_named():
        progress = ChunkProgress.model_validate(event["progress"])
        if progress.is_parked and progress.remaining:
            parts().parking.begin(progress, event["token"])
        else:
            parts().run_waits.begin(progress, event["token"])
