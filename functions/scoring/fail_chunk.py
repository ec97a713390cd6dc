"""End what a broken run left without verdicts."""

from functools import cache
from typing import Any

from autotune_platform.runs.progress import ChunkProgress
from autotune_platform.runtime.environment import ContentEnvironment
from autotune_platform.scoring.failure import ChunkFailure


@cache
def service() -> ChunkFailure:
    """Return the process's service."""
    return ChunkFailure.from_environment(ContentEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Write ``failed`` for each completion of the chunk that has no verdict."""
    return service().fail(ChunkProgress.model_validate(event)).model_dump(mode="json")
