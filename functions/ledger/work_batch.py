"""Makes a batch of a queue, or goes on with one: one step of an execution."""

from functools import cache
from typing import Any

from autotune_platform.runtime.environment.ledger import LedgerWorkEnvironment
from autotune_platform.wiring.ledger_work import LedgerWorkParts

MOST_STEPS = 2_000
"""Most steps of one execution: its history holds 25,000 events, and a step is six of them."""


@cache
def parts() -> LedgerWorkParts:
    """Return what this process is put together from."""
    return LedgerWorkParts(LedgerWorkEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Go on with ``batch_id``, or make a batch of ``group``; ``done`` if nothing is left."""
    work, before = parts().batch_work, event["step"]

    def seconds_left() -> float:
        return float(context.get_remaining_time_in_millis() / 1000)

    if "batch_id" in before:
        step = work.advance(
            before["batch_id"],
            redrive=before["redrive"],
            seconds_left=seconds_left,
        )
    else:
        step = work.begin(before["group"], seconds_left=seconds_left)
    if step.full is not None or step.ended is not None:
        starter = parts().starter(event["state_machine_arn"])
        if step.full is not None:
            starter.start_group(step.full.group.key, after=step.full)
        if step.ended is not None:
            starter.start_group(step.ended.group.key, ended=step.ended)
    steps = before.get("steps", 0) + 1
    # The sweeper goes on with a batch that nobody works on, in an execution of its own.
    if step.batch is None or steps >= MOST_STEPS:
        return {"done": True}
    return {
        "batch_id": step.batch.id,
        "redrive": step.batch.redrive,
        "steps": steps,
        "wait_seconds": max(step.wait_seconds, 1),
        "done": False,
    }
