"""From what happened to deliveries."""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime

from autotune.protocol.compact_json import compact
from autotune.protocol.events import EventType
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part
from autotune_platform.webhooks.models import Delivery, Event, Webhook, key_of
from autotune_platform.webhooks.repository import DeliveryRepository, WebhookRepository
from autotune_platform.webhooks.waking import WakeQueue

_WRITERS = 8


@dataclass(frozen=True)
class Audience:
    """The webhooks of some organisations."""

    webhooks: Mapping[str, Sequence[Webhook]]

    def wants(self, organization_id: str, event_type: EventType) -> bool:
        """Return whether any webhook of an organisation asks for events of a type."""
        return any(one.asks_for(event_type) for one in self.webhooks[organization_id])

    def of(self, event: Event) -> list[Webhook]:
        """Return the webhooks that an event is to be delivered to."""
        return [one for one in self.webhooks[event.organization_id] if one.wants(event)]


@part
class EventPublisher:
    """Publishes events to organisations: each event once to each webhook."""

    webhooks: WebhookRepository
    deliveries: DeliveryRepository
    queue: WakeQueue
    clock: Clock = SYSTEM_CLOCK

    def audience(self, organization_ids: Iterable[str]) -> Audience:
        """Return the webhooks of organisations, by one read for each."""
        return Audience(
            {
                organization_id: self.webhooks.list(organization_id)
                for organization_id in dict.fromkeys(organization_ids)
            }
        )

    def publish(self, events: Sequence[Event], *, to: Audience | None = None) -> None:
        """Store a delivery for each webhook that wants an event, and have them sent.

        Publishing an event again adds nothing, so that whoever fails half-way publishes all of it
        again.

        Args:
            to: the webhooks of the events' organisations, where they are read already.

        Raises:
            UnavailableError: the queue refused a message; publish again.
        """
        audience = to or self.audience(event.organization_id for event in events)
        wanted = [(webhook, event) for event in events for webhook in audience.of(event)]
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
    return compact(
        {"event": event.type, "timestamp": occurred_at.replace("+00:00", "Z"), "data": event.data}
    )
