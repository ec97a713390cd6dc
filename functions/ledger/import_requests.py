"""Takes in as much of an imported file as there is time and room for: one step of its execution."""

from functools import cache
from typing import Any

from autotune_platform.runtime.environment.ledger import ImportEnvironment
from autotune_platform.wiring.ledger_imports import ImportWorkParts

MOST_STEPS = 2_000
"""Most steps of one execution: its history holds 25,000 events, and a step is six of them."""


@cache
def parts() -> ImportWorkParts:
    """Return what this process is put together from."""
    return ImportWorkParts(ImportEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Go on with ``import_id``; ``done`` is whether this execution has nothing left to do."""
    step = parts().import_work.advance(
        event["import_id"],
        redrive=event["redrive"],
        seconds_left=lambda: context.get_remaining_time_in_millis() / 1000,
    )
    steps = event.get("steps", 0) + 1
    return {
        "import_id": event["import_id"],
        "redrive": event["redrive"],
        "steps": steps,
        "wait_seconds": step.wait_seconds,
        # The sweeper goes on with an import that nobody works on, in an execution of its own.
        "done": step.done or steps >= MOST_STEPS,
    }
