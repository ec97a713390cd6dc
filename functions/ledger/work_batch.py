"""Makes a batch of a queue, or goes on with one: one step of an execution."""

from functools import cache
from typing import Any

from autotune_platform.runtime.environment import LedgerWorkEnvironment
from autotune_platform.wiring.ledger import LedgerWorkParts


@cache
def parts() -> LedgerWorkParts:
    """Return what this process is put together from."""
    return LedgerWorkParts(LedgerWorkEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Go on with ``batch_id``, or make a batch of ``group``; ``done`` is whether nothing is left."""
    work = parts().batch_work
    if "batch_id" in event:
        step = work.advance(
            event["batch_id"],
            redrive=event["redrive"],
            seconds_left=lambda: context.get_remaining_time_in_millis() / 1000,
        )
    else:
        step = work.begin(event["group"])
    if step.batch is None:
        return {"done": True}
    return {
        "batch_id": step.batch.id,
        "redrive": step.batch.redrive,
        "wait_seconds": max(step.wait_seconds, 1),
        "done": False,
    }
