"""Record that a run gave up, and have the sweeper redrive what is pending in it."""

from functools import cache
from typing import Any

from autotune_platform.runs.progress import ChunkProgress
from autotune_platform.runtime.environment.completions import ContentEnvironment
from autotune_platform.runtime.throttling import throttling_is_named
from autotune_platform.wiring.failure import FailureParts


@cache
def parts() -> FailureParts:
    """Return what this process is put together from."""
    return FailureParts(ContentEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Record the end of the run that an event describes; no verdict is written."""
    with throttling_is_named():
        return parts().run_failure.fail(ChunkProgress.model_validate(event)).model_dump(mode="json")
