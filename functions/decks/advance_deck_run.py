"""Goes on with a run of a deck as far as there is time and room: one step of its execution."""

from functools import cache
from typing import Any

from autotune_platform.runtime.environment.deck_runs import DeckRunWorkEnvironment
from autotune_platform.wiring.deck_runs import DeckRunWorkParts

MOST_STEPS = 2_000
"""Most steps of one execution: its history holds 25,000 events, and a step is eight of them."""


@cache
def parts() -> DeckRunWorkParts:
    """Return what this process is put together from."""
    return DeckRunWorkParts(DeckRunWorkEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Go on with ``run_id``; ``done`` is whether this execution has nothing left to do.

    ``measures`` is whether an edit is to be measured by what the run has stored.
    """
    step = parts().deck_run_steps.advance(
        event["deck_id"],
        event["run_id"],
        redrive=event["redrive"],
        seconds_left=lambda: context.get_remaining_time_in_millis() / 1000,
    )
    steps = event.get("steps", 0) + 1
    return {
        "deck_id": event["deck_id"],
        "run_id": event["run_id"],
        "redrive": event["redrive"],
        "steps": steps,
        "wait_seconds": step.wait_seconds,
        "measures": step.measures,
        # The sweeper goes on with a run that nobody works on, in an execution of its own.
        "done": step.done or steps >= MOST_STEPS,
    }
