"""Publish the events that were stored beside what happened."""

from functools import cache
from typing import Any

from autotune_platform.runtime.environment.webhooks import EventEnvironment
from autotune_platform.wiring.publishing import EventParts


@cache
def parts() -> EventParts:
    """Return what this process is put together from."""
    return EventParts(EventEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Publish a batch of the stream; an error has the whole batch delivered again."""
    parts().event_router.route(event["Records"])
    return {"batchItemFailures": []}
