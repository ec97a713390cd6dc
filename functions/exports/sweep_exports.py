"""Drive exports again whose execution was lost; runs every minute."""

from functools import cache
from typing import Any

from autotune_platform.exports.driving import ExportSweeper
from autotune_platform.runtime.environment import ExportDriveEnvironment


@cache
def service() -> ExportSweeper:
    """Return the process's sweeper."""
    return ExportSweeper.from_environment(ExportDriveEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Sweep; return how many exports were overdue."""
    return {"overdue": service().sweep()}
