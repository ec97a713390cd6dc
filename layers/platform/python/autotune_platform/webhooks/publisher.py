"""From what happened to deliveries."""

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

from autotune_platform.storage.changes import Change
from autotune_platform.webhooks.calls import DrainCalls
from autotune_platform.webhooks.deliveries import DeliveryRepository
from autotune_platform.webhooks.models import Delivery, Event, Webhook, key_of
from autotune_platform.webhooks.outbox import event_in
from autotune_platform.webhooks.repository import WakeQueue, WebhookRepository

_WRITERS = 8


class EventPublisher:
    """Tells organisations of events, each webhook once of each event."""

    def __init__(
        self,
        *,
        webhooks: WebhookRepository,
        deliveries: DeliveryRepository,
        calls: DrainCalls,
        queue: WakeQueue,
    ) -> None:
        self._webhooks = webhooks
        self._deliveries = deliveries
        self._calls = calls
        self._queue = queue
        self.now: Callable[[], datetime] = _now

    def follow(self, changes: Sequence[Change]) -> None:
        """Publish the events that changes of a table store beside what happened.

        Raises:
            UnavailableError: as ``publish``.
        """
        self.publish([event_in(change) for change in changes])

    def publish(self, events: Sequence[Event]) -> None:
        """Store a delivery for each webhook that wants an event, and have them sent.

        One read for each organisation; where it has no webhook, that is all. Publishing an event
        again adds nothing, so that whoever fails half-way publishes all of it again.

        Raises:
            UnavailableError: the queue refused a message; publish again.
        """
        webhooks = {
            organization_id: self._webhooks.list(organization_id)
            for organization_id in dict.fromkeys(event.organization_id for event in events)
        }
        wanted = [
            (webhook, event)
            for event in events
            for webhook in webhooks[event.organization_id]
            if webhook.wants(event)
        ]
        if not wanted:
            return
        now = self.now()
        new = [_delivery(webhook, event, now) for webhook, event in wanted]
        with ThreadPoolExecutor(min(_WRITERS, len(new))) as writers:
            # Drained, so that an error of any write is raised here.
            list(writers.map(self._deliveries.add, new))
        # Deliveries that were there before are woken for, too: their publisher may have died here.
        # One that dies after it noted the message and before it sent it leaves that to the sweep.
        keys = dict.fromkeys(key_of(webhook) for webhook, _ in wanted)
        self._queue.wake([key for key in keys if self._calls.must_send(key, self.now())])


def _delivery(webhook: Webhook, event: Event, now: datetime) -> Delivery:
    return Delivery(
        webhook_id=webhook.id,
        event_id=event.id,
        organization_id=webhook.organization_id,
        event_type=event.type,
        body=event_body(event),
        occurred_at=event.occurred_at,
        due_at=now,
    )


def event_body(event: Event) -> str:
    """Return the text that tells of an event, the same whenever it is asked for."""
    occurred_at = event.occurred_at.astimezone(UTC).isoformat(timespec="milliseconds")
    return json.dumps(
        {
            "event": event.type,
            "timestamp": occurred_at.replace("+00:00", "Z"),
            "data": event.data,
        },
        separators=(",", ":"),
        ensure_ascii=False,
    )


def _now() -> datetime:
    return datetime.now(UTC)
