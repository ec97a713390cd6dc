"""End what a broken run left without verdicts."""

from functools import cache
from typing import Any

from autotune_platform.runs.progress import ChunkProgress
from autotune_platform.runtime.environment import ContentEnvironment
from autotune_platform.wiring.failure import FailureParts


@cache
def parts() -> FailureParts:
    """Return what this process is put together from."""
    return FailureParts(ContentEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Write ``failed`` for each completion of the chunk that has no verdict."""
    return parts().chunk_failure.fail(ChunkProgress.model_validate(event)).model_dump(mode="json")
