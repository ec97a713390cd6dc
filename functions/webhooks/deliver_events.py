"""Send what is due to the webhook that a message names."""

from functools import cache
from typing import Any

from autotune_platform.runtime.environment.webhooks import DeliveryEnvironment
from autotune_platform.wiring.webhooks import DelivererParts


@cache
def parts() -> DelivererParts:
    """Return what this process is put together from."""
    return DelivererParts(DeliveryEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Drain webhooks; messages that failed go back to the queue."""
    bodies = {record["messageId"]: record["body"] for record in event["Records"]}
    failed = parts().deliverer.drain_all(
        bodies, seconds_left=lambda: context.get_remaining_time_in_millis() / 1000
    )
    return {"batchItemFailures": [{"itemIdentifier": id_} for id_ in sorted(failed)]}
