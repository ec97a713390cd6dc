"""Publish the events that were stored beside what happened."""

from functools import cache
from typing import Any

from autotune_platform.runtime.environment import WebhookEnvironment
from autotune_platform.webhooks.outbox import event_in
from autotune_platform.webhooks.publisher import EventPublisher


@cache
def service() -> EventPublisher:
    """Return the process's publisher."""
    return EventPublisher.from_environment(WebhookEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Publish a batch of the stream; an error has the whole batch delivered again."""
    service().publish([event_in(record) for record in event["Records"]])
    return {"batchItemFailures": []}
