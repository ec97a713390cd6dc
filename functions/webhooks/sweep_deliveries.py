"""Wake webhooks whose wake-up was lost; runs every minute."""

from functools import cache
from typing import Any

from autotune_platform.runtime.environment.webhooks import WebhookEnvironment
from autotune_platform.wiring.publishing import DeliverySweepParts


@cache
def parts() -> DeliverySweepParts:
    """Return what this process is put together from."""
    return DeliverySweepParts(WebhookEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Sweep; return how many webhooks were woken."""
    woken = parts().delivery_sweeper.sweep(
        seconds_left=lambda: context.get_remaining_time_in_millis() / 1000
    )
    return {"woken": woken}
