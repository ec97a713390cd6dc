"""What webhooks were sent, and sending it again."""

from datetime import datetime
from itertools import islice

from autotune.protocol.events import DeliveryStatus
from autotune.protocol.ids import is_id
from autotune_platform.access.models import Caller
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import ConflictError, NotFoundError
from autotune_platform.runtime.parts import part
from autotune_platform.storage.cursors import decode_cursor, encode_cursor, invalid_cursor
from autotune_platform.webhooks.models import Delivery, key_of
from autotune_platform.webhooks.repository import DeliveryRepository
from autotune_platform.webhooks.service import WebhookService
from autotune_platform.webhooks.waking import WakeQueue

# A list of few failures among many deliveries comes in pages that may be short.
_MOST_EXAMINED = 1_000
_REPLAY_ATTEMPTS = 3


@part
class DeliveryHistory:
    """The deliveries of an organisation's webhooks."""

    webhooks: WebhookService
    deliveries: DeliveryRepository
    queue: WakeQueue
    clock: Clock = SYSTEM_CLOCK

    def list(
        self,
        caller: Caller,
        webhook_id: str,
        *,
        status: DeliveryStatus | None,
        limit: int,
        next_token: str | None,
    ) -> tuple[list[Delivery], str | None]:
        """Return a page of a webhook's deliveries, the newest event first; it may be short.

        Raises:
            NotFoundError: there is no such webhook, or it is another organisation's.
            InvalidRequestError: ``next_token`` is not from this list.
        """
        webhook = self.webhooks.get(caller, webhook_id)
        found: list[Delivery] = []
        newest = self.deliveries.newest(
            webhook.id, after=_position(next_token), page_size=limit if status is None else 100
        )
        for examined, delivery in enumerate(islice(newest, _MOST_EXAMINED), start=1):
            if status is None or delivery.status == status:
                found.append(delivery)
            if len(found) == limit or examined == _MOST_EXAMINED:
                return found, encode_cursor(delivery.occurred_at.isoformat(), delivery.event_id)
        return found, None

    def get(self, caller: Caller, webhook_id: str, event_id: str) -> Delivery:
        """Return the delivery of an event.

        Raises:
            NotFoundError: there is no such webhook or delivery in the caller's organisation.
        """
        webhook = self.webhooks.get(caller, webhook_id)
        delivery = self.deliveries.get(webhook.id, event_id)
        if delivery is None:
            raise NotFoundError(f"no delivery of {event_id} to {webhook_id}")
        return delivery

    def replay(self, caller: Caller, webhook_id: str, event_id: str) -> Delivery:
        """Have an event sent again, at once and with all its attempts, under the same id.

        Raises:
            NotFoundError: there is no such webhook or delivery in the caller's organisation.
            ConflictError: the webhook is disabled, or is just being sent this event.
        """
        webhook = self.webhooks.get(caller, webhook_id)
        if webhook.status != "active":
            raise ConflictError(f'webhook {webhook_id} is disabled; set its status to "active"')
        anew = {
            "status": "pending",
            "attempts": 0,
            "last_attempt_at": None,
            "last_status": None,
            "last_error": None,
        }
        for _ in range(_REPLAY_ATTEMPTS):
            before = self.get(caller, webhook_id, event_id)
            after = before.model_copy(update={**anew, "due_at": self.clock.now()})
            if self.deliveries.replace(before, after):
                self.queue.wake([key_of(webhook)])
                return after
        raise ConflictError(f"{event_id} is just being sent to {webhook_id}; try again")


def _position(next_token: str | None) -> tuple[datetime, str] | None:
    if next_token is None:
        return None
    moment, event_id = decode_cursor(next_token, parts=2)
    try:
        occurred_at = datetime.fromisoformat(moment)
    except ValueError as error:
        raise invalid_cursor() from error
    if occurred_at.tzinfo is None or not is_id("evt", event_id):
        raise invalid_cursor()
    return occurred_at, event_id
