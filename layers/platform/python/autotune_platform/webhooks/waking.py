"""Waking the deliverer: by whoever publishes, and by a sweep that finds wake-ups which are lost.

A publisher may die between a delivery and its wake-up, a message may end as a dead letter, and SQS
holds none back for longer than 15 minutes: the sweep finds within a minute whatever is due.
"""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.grouping import groups
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.queues import send_all
from autotune_platform.storage.versioned_states import VersionedStates
from autotune_platform.webhooks.drains import Drain, drain_key
from autotune_platform.webhooks.models import WebhookKey
from autotune_platform.webhooks.repository import DeliveryRepository

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

_RESERVE_SECONDS = 10
_WOKEN_AT_ONCE = 10


@part
class WakeQueue:
    """The queue of webhooks that have something due."""

    url: str
    sqs: "SQSClient"
    drains: VersionedStates

    def wake(self, keys: Iterable[WebhookKey], *, delay_seconds: int = 0) -> None:
        """Have webhooks drained, after 0 to 900 seconds; twice does no harm.

        Raises:
            UnavailableError: the queue refused a message.
        """
        bodies = (key.model_dump_json() for key in keys)
        send_all(self.sqs, self.url, bodies, delay_seconds=delay_seconds)

    def call(self, keys: Iterable[WebhookKey], now: datetime) -> int:
        """Have webhooks drained now that no message is on its way to; return how many.

        Whoever drains one of the others looks again at its end; see ``Drain``.

        Raises:
            UnavailableError: the queue refused a message.
        """
        unheard = [key for key in keys if self._must_send(key, now.timestamp())]
        self.wake(unheard)
        return len(unheard)

    def _must_send(self, key: WebhookKey, now: float) -> bool:
        try:
            return self.drains.change(
                drain_key(key.webhook_id), Drain, now, lambda drain: drain.called(now)
            )
        except UnavailableError:  # many call at the same time; one message more does no harm
            return True


@part
class DeliverySweeper:
    """Finds webhooks that have something due."""

    deliveries: DeliveryRepository
    queue: WakeQueue
    clock: Clock = SYSTEM_CLOCK

    def sweep(self, *, seconds_left: Callable[[], float]) -> int:
        """Wake every webhook with something due that there is time for; return how many.

        One that is being drained, or was woken just now, is left alone.
        """
        due = groups(self._due(seconds_left), _WOKEN_AT_ONCE)
        return sum(self.queue.call(some, self.clock.now()) for some in due)

    def _due(self, seconds_left: Callable[[], float]) -> Iterator[WebhookKey]:
        for key in self.deliveries.webhooks_due(self.clock.now()):
            if seconds_left() < _RESERVE_SECONDS:
                return
            yield key
