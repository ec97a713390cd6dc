"""Let a run wait for signals: graders' callbacks, or people's reviews."""

from functools import cache
from typing import Any

from autotune_platform.runs.progress import ChunkProgress
from autotune_platform.runtime.environment import ContentEnvironment
from autotune_platform.runtime.throttling import throttling_is_named
from autotune_platform.wiring.waits import WaitParts


@cache
def parts() -> WaitParts:
    """Return what this process is put together from."""
    return WaitParts(ContentEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> None:  # noqa: ARG001 - Lambda's signature
    """Store the token that ends the wait; the state machine goes on when somebody sends it."""
    with throttling_is_named():
        parts().run_waits.begin(ChunkProgress.model_validate(event["progress"]), event["token"])
