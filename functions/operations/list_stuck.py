"""Tell an operator which batches are overdue."""

from functools import cache
from typing import Any

from autotune_platform.operations.stuck import StuckWork
from autotune_platform.runtime.environment import SubmissionEnvironment


@cache
def service() -> StuckWork:
    """Return the process's service."""
    return StuckWork.from_environment(SubmissionEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Return overdue batches that have pending completions."""
    return {"batches": [batch.model_dump(by_alias=True) for batch in service().find()]}
