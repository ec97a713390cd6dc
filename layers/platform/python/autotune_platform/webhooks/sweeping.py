"""Waking webhooks whose wake-up was lost.

A publisher may die between a delivery and its wake-up, a message may end as a dead letter, and SQS
holds none back for longer than 15 minutes: whatever is due is found here within a minute.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime

from autotune_platform.runtime.grouping import groups
from autotune_platform.runtime.parts import part
from autotune_platform.webhooks.calls import DrainCalls
from autotune_platform.webhooks.deliveries import DeliveryRepository
from autotune_platform.webhooks.models import WebhookKey
from autotune_platform.webhooks.repository import WakeQueue

_RESERVE_SECONDS = 10
_WOKEN_AT_ONCE = 10


@part
class DeliverySweeper:
    """Finds webhooks that have something due."""

    deliveries: DeliveryRepository
    calls: DrainCalls
    queue: WakeQueue

    def sweep(self, *, seconds_left: Callable[[], float]) -> int:
        """Wake every webhook with something due that there is time for; return how many.

        One that is being drained, or was woken just now, is left alone.
        """
        woken = 0
        for some in groups(self._due(seconds_left), _WOKEN_AT_ONCE):
            unheard = [key for key in some if self.calls.must_send(key, _now())]
            self.queue.wake(unheard)
            woken += len(unheard)
        return woken

    def _due(self, seconds_left: Callable[[], float]) -> Iterator[WebhookKey]:
        for key in self.deliveries.webhooks_due(_now()):
            if seconds_left() < _RESERVE_SECONDS:
                return
            yield key


def _now() -> datetime:
    return datetime.now(UTC)
