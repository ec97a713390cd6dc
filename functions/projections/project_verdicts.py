"""Publish verdicts and count them; follows the stream of the table ``completions``."""

from functools import cache
from typing import Any

from autotune_platform.runtime.environment.projections import ProjectionEnvironment
from autotune_platform.wiring.projections import ProjectionParts


@cache
def parts() -> ProjectionParts:
    """Return what this process is put together from."""
    return ProjectionParts(ProjectionEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Project a batch of records. After an error all of it is delivered again, which is safe."""
    parts().verdict_router.route(event["Records"])
    return {"batchItemFailures": []}
