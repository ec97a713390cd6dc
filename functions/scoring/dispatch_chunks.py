"""Start a run for each chunk that waits on a queue."""

from functools import cache
from typing import Any

from autotune_platform.runtime.environment.scoring import DispatchEnvironment
from autotune_platform.runtime.queues import latest_of_queues
from autotune_platform.wiring.dispatch import DispatchParts


@cache
def parts() -> DispatchParts:
    """Return what this process is put together from."""
    return DispatchParts(DispatchEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Dispatch an SQS batch; messages that could not be dispatched go back to their queue."""
    bodies = {record["messageId"]: record["body"] for record in event["Records"]}
    failed = parts().dispatch.dispatch(bodies)
    parts().queue_progress.note(latest_of_queues(event["Records"]))
    return {"batchItemFailures": [{"itemIdentifier": id_} for id_ in sorted(failed)]}
