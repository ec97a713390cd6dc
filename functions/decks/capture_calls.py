"""Make samples of chat completions that were handed over."""

from functools import cache
from typing import Any

from autotune_platform.runtime.environment.decks import CaptureEnvironment
from autotune_platform.wiring.capture import CaptureParts


@cache
def parts() -> CaptureParts:
    """Return what this process is put together from."""
    return CaptureParts(CaptureEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001
    """Capture calls; messages that failed go back to the queue."""
    bodies = {record["messageId"]: record["body"] for record in event["Records"]}
    failed = parts().capturing.capture_all(bodies)
    return {"batchItemFailures": [{"itemIdentifier": id_} for id_ in sorted(failed)]}
