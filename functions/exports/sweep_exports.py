"""Redrives exports whose execution was lost; runs every minute."""

from functools import cache
from typing import Any

from autotune_platform.runtime.environment.exports import ExportStartEnvironment
from autotune_platform.wiring.exports import ExportSweepParts


@cache
def parts() -> ExportSweepParts:
    """Return what this process is put together from."""
    return ExportSweepParts(ExportStartEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Sweep; return how many exports were overdue."""
    return {"overdue": parts().export_sweeper.sweep()}
