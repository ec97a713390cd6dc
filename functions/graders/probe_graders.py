"""Ask a share of all graders for their health; runs every five minutes for each share."""

from functools import cache
from typing import Any

from autotune_platform.runtime.environment.graders import ProbingEnvironment
from autotune_platform.wiring.grader_admin import ProbingParts


@cache
def parts() -> ProbingParts:
    """Return what this process is put together from."""
    return ProbingParts(ProbingEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Probe the graders of ``{"shard": n}``; return how many were probed, changed and left."""
    report = parts().probing.probe(
        event["shard"], seconds_left=lambda: context.get_remaining_time_in_millis() / 1000
    )
    return report.model_dump()
