"""Tell of verdicts and count them; follows the stream of the table ``completions``."""

from functools import cache
from typing import Any

from autotune_platform.runtime.environment import ProjectionEnvironment
from autotune_platform.wiring.scoring import ProjectionParts


@cache
def parts() -> ProjectionParts:
    """Return what this process is put together from."""
    return ProjectionParts(ProjectionEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Project a batch of records; an error has all of it delivered again, which does no harm."""
    parts().verdict_router.route(event["Records"])
    return {"batchItemFailures": []}
