"""Write as much of an export as there is time for: one step of its loop."""

from functools import cache
from typing import Any

from autotune_platform.exports.work import ExportWork
from autotune_platform.runtime.environment import ExportEnvironment


@cache
def service() -> ExportWork:
    """Return the process's service."""
    return ExportWork.from_environment(ExportEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Go on with ``export_id``; ``done`` tells whether anything is left for this ``drive``."""
    done = service().go_on(
        event["export_id"],
        drive=event["drive"],
        seconds_left=lambda: context.get_remaining_time_in_millis() / 1000,
    )
    return {"export_id": event["export_id"], "drive": event["drive"], "done": done}
