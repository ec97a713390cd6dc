"""Go on with a run in another execution, before the history of this one is full."""

from functools import cache
from typing import Any

from autotune_platform.runs.progress import ChunkProgress
from autotune_platform.wiring.continuing import ContinuationParts


@cache
def parts() -> ContinuationParts:
    """Return what this process is put together from."""
    return ContinuationParts()


def lambda_handler(event: dict[str, Any], context: Any) -> None:  # noqa: ARG001 - Lambda's signature
    """Start the next execution of the state machine that invokes this."""
    progress = ChunkProgress.model_validate(event["progress"])
    parts().continuation.go_on(progress, event["state_machine_arn"])
