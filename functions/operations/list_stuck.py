"""List for an operator the batches that are overdue."""

from functools import cache
from typing import Any

from autotune_platform.runtime.environment.completions import SubmissionEnvironment
from autotune_platform.wiring.recovery import RecoveryParts


@cache
def parts() -> RecoveryParts:
    """Return what this process is put together from."""
    return RecoveryParts(SubmissionEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Return overdue batches that have pending completions."""
    return {"batches": [batch.model_dump(by_alias=True) for batch in parts().stuck_work.find()]}
