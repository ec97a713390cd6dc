"""Redrive what is pending longer than it should be; runs every minute for each part of it."""

from functools import cache
from typing import Any

from autotune_platform.runtime.environment.scoring import SweepEnvironment
from autotune_platform.wiring.sweeping import SweepParts


@cache
def parts() -> SweepParts:
    """Return what this process is put together from."""
    return SweepParts(SweepEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Sweep everything, or part ``{"part": 0, "parts": 4}``; return what was done, in batches."""
    report = parts().sweeper.sweep(
        seconds_left=lambda: context.get_remaining_time_in_millis() / 1000,
        part=event.get("part", 0),
        parts=event.get("parts", 1),
    )
    return report.model_dump()
