"""Wake webhooks whose wake-up was lost; runs every minute."""

from functools import cache
from typing import Any

from autotune_platform.runtime.environment import WebhookEnvironment
from autotune_platform.webhooks.sweeping import DeliverySweeper


@cache
def service() -> DeliverySweeper:
    """Return the process's sweeper."""
    return DeliverySweeper.from_environment(WebhookEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Sweep; return how many webhooks were woken."""
    woken = service().sweep(seconds_left=lambda: context.get_remaining_time_in_millis() / 1000)
    return {"woken": woken}
