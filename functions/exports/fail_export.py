"""Ends an export whose execution could not continue."""

from functools import cache
from typing import Any

from autotune_platform.runtime.environment.exports import ExportEnvironment
from autotune_platform.wiring.exports import ExportParts


@cache
def parts() -> ExportParts:
    """Return what this process is put together from."""
    return ExportParts(ExportEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> None:  # noqa: ARG001 - Lambda's signature
    """End the export as ``failed``, unless it has ended or was redriven."""
    parts().export_work.fail(
        event["export_id"], redrive=event["redrive"], error_code="platform_error"
    )
