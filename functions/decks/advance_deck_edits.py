"""Goes on with edits: measures one whose replay has ended, or takes what a model proposes.

It is a function of its own, because only what computes has the layer with numpy.
"""

from functools import cache
from typing import Any

from autotune_platform.runtime.environment.deck_runs import DeckRunEnvironment
from autotune_platform.wiring.deck_edits import DeckEditWorkParts

MOST_STEPS = 2_000
"""Most steps of one execution: its history holds 25,000 events, and a step is eight of them."""


@cache
def parts() -> DeckEditWorkParts:
    """Return what this process is put together from."""
    return DeckEditWorkParts(DeckRunEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Go on with ``proposal`` of a grader, or measure the edit that ``run_id`` replayed.

    ``done`` is whether nothing is left to do.
    """
    if "proposal" not in event:
        parts().edit_settling.after_run(event["deck_id"], event["run_id"])
        return {**event, "done": True}
    steps = event.get("steps", 0)
    step = parts().proposal_advancing.advance(
        event["deck_id"],
        event["grader_id"],
        event["proposal"],
        steps=steps,
        seconds_left=lambda: context.get_remaining_time_in_millis() / 1000,
    )
    return {
        "deck_id": event["deck_id"],
        "grader_id": event["grader_id"],
        "proposal": event["proposal"],
        "steps": steps + 1,
        "wait_seconds": step.wait_seconds,
        # Whoever reads the proposal goes on with it after that.
        "done": step.done or steps + 1 >= MOST_STEPS,
    }
