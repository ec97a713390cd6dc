"""From what happened to deliveries."""

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part
from autotune_platform.storage.changes import Change
from autotune_platform.webhooks.models import Delivery, Event, Webhook, key_of
from autotune_platform.webhooks.outbox import event_in
from autotune_platform.webhooks.repository import DeliveryRepository, WebhookRepository
from autotune_platform.webhooks.waking import WakeQueue

_WRITERS = 8


@part
class EventPublisher:
    """Publishes events to organisations: each event once to each webhook."""

    webhooks: WebhookRepository
    deliveries: DeliveryRepository
    queue: WakeQueue
    clock: Clock = SYSTEM_CLOCK

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
            organization_id: self.webhooks.list(organization_id)
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
        now = self.clock.now()
        new = [_delivery(webhook, event, now) for webhook, event in wanted]
        with ThreadPoolExecutor(min(_WRITERS, len(new))) as writers:
            # Drained, so that an error of any write is raised here.
            list(writers.map(self.deliveries.add, new))
        # Deliveries that were there before are woken for, too: their publisher may have died here.
        # One that dies after it noted the message and before it sent it leaves that to the sweep.
        keys = dict.fromkeys(key_of(webhook) for webhook, _ in wanted)
        self.queue.call(keys, self.clock.now())


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
    """Return the text that is sent for an event, the same whenever it is asked for."""
    occurred_at = event.occurred_at.astimezone(UTC).isoformat(timespec="milliseconds")
    return json.dumps(
        {"event": event.type, "timestamp": occurred_at.replace("+00:00", "Z"), "data": event.data},
        separators=(",", ":"),
        ensure_ascii=False,
    )
