"""End an export whose execution could not go on."""

from functools import cache
from typing import Any

from autotune_platform.exports.work import ExportWork
from autotune_platform.runtime.environment import ExportEnvironment


@cache
def service() -> ExportWork:
    """Return the process's service."""
    return ExportWork.from_environment(ExportEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> None:  # noqa: ARG001 - Lambda's signature
    """Mark the export as ``failed`` unless it has ended, or another execution is at it."""
    service().fail(event["export_id"], drive=event["drive"], error_code="platform_error")
