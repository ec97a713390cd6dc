"""Tell of verdicts and count them; follows the stream of the table ``completions``."""

from functools import cache
from typing import Any

from autotune_platform.environment import ProjectionEnvironment
from autotune_platform.scoring.projection import VerdictProjection


@cache
def service() -> VerdictProjection:
    """Return the process's service."""
    return VerdictProjection.from_environment(ProjectionEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Project a batch of records; an error has all of it delivered again, which does no harm."""
    service().follow(event["Records"])
    return {"batchItemFailures": []}
