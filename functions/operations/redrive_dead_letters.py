"""Move dead letters back to their queues, for an operator."""

from functools import cache
from typing import Any

from autotune_platform.operations.dead_letters import DeadLetters
from autotune_platform.runtime.environment import DeadLetterEnvironment


@cache
def service() -> DeadLetters:
    """Return the process's service."""
    return DeadLetters.from_environment(DeadLetterEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Move them all; return how many of each queue moved."""
    return {"moved": service().redrive()}
