"""Have models answer runs of the apprentice: those of a queue, and those that somebody waits for.

It may be given a run any number of times.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from autotune_platform.apprentice.runs.models import Run
from autotune_platform.budgets.waiting import Held
from autotune_platform.runtime.environment.apprentice_runs import ApprenticeWorkEnvironment
from autotune_platform.wiring.apprentice_runs import ApprenticeWorkParts


@cache
def parts() -> ApprenticeWorkParts:
    """Return what this process is put together from."""
    return ApprenticeWorkParts(ApprenticeWorkEnvironment.parse())


def _give_back(places: Mapping[str, Any] | None) -> None:
    if places is None:
        return
    for one in places["held"]:
        held = Held.model_validate(one)
        parts().held_places.release(held, waited_until=places["waited_until"])


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Work on an event's run, which is new; or on those of a queue's messages.

    An event's run may come with the places of who waits for it.

    Returns:
        The run as it stands, with its ``output``; or the messages that go back to the queue.
    """

    def seconds_left() -> float:
        return float(context.get_remaining_time_in_millis() / 1000)

    work = parts().run_work
    if "run" in event:
        try:
            worked = work.work_new(Run.model_validate(event["run"]), seconds_left=seconds_left)
        finally:
            _give_back(event.get("places"))
        run = worked.run.model_dump(mode="json", exclude_none=True)
        return {"run": run, "output": worked.output}
    bodies = {record["messageId"]: record["body"] for record in event["Records"]}
    failed = work.work_all(bodies, seconds_left=seconds_left)
    return {"batchItemFailures": [{"itemIdentifier": id_} for id_ in sorted(failed)]}
