"""Write as much of an export as there is time for: one step of its loop."""

from functools import cache
from typing import Any

from autotune_platform.runtime.environment import ExportEnvironment
from autotune_platform.wiring.exports import ExportParts


@cache
def parts() -> ExportParts:
    """Return what this process is put together from."""
    return ExportParts(ExportEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Go on with ``export_id``; ``done`` tells whether anything is left for this ``drive``."""
    done = parts().export_work.go_on(
        event["export_id"],
        drive=event["drive"],
        seconds_left=lambda: context.get_remaining_time_in_millis() / 1000,
    )
    return {"export_id": event["export_id"], "drive": event["drive"], "done": done}
