"""Writes as much of an export as there is time for: one step of its execution."""

from functools import cache
from typing import Any

from autotune_platform.runtime.environment.exports import ExportEnvironment
from autotune_platform.wiring.exports import ExportParts


@cache
def parts() -> ExportParts:
    """Return what this process is put together from."""
    return ExportParts(ExportEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Advance ``export_id``; ``done`` is whether this execution has nothing left to do."""
    done = parts().export_work.advance(
        event["export_id"],
        redrive=event["redrive"],
        seconds_left=lambda: context.get_remaining_time_in_millis() / 1000,
    )
    return {"export_id": event["export_id"], "redrive": event["redrive"], "done": done}
