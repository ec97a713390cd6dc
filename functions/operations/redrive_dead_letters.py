"""Move dead letters back to their queues, for an operator."""

from functools import cache
from typing import Any

from autotune_platform.runtime.environment.operations import DeadLetterEnvironment
from autotune_platform.wiring.operations import DeadLetterParts


@cache
def parts() -> DeadLetterParts:
    """Return what this process is put together from."""
    return DeadLetterParts(DeadLetterEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Move them all; return how many of each queue moved."""
    return {"moved": parts().dead_letters.redrive()}
