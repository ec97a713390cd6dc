"""Events, the webhooks that want them, and their deliveries."""

from datetime import datetime
from typing import Any, Literal

from autotune.protocol.events import (
    DeliveryError,
    DeliveryStatus,
    DisabledReason,
    EventType,
    WebhookStatus,
)
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.storage.registry import Entity


class Event(FrozenModel):
    """Something that happened in an organisation, once.

    ``id`` follows from what happened, so that publishing it again is publishing the same event;
    ``occurred_at`` and ``data`` follow from it, too.
    """

    id: str
    type: EventType
    organization_id: str
    occurred_at: datetime
    data: dict[str, Any]


class Webhook(Entity):
    """An organisation's wish to get events at a URL.

    Its secret is derived from id and ``secret_version``; the version before it signs, too, until
    ``previous_secret_until``.
    """

    url: str
    event_types: tuple[EventType, ...] | Literal["all"]
    description: str
    status: WebhookStatus = "active"
    disabled_reason: DisabledReason | None = None
    failing_since: datetime | None = None
    secret_version: int = 1
    previous_secret_until: datetime | None = None
    created_at: datetime
    created_by: str | None = None
    updated_at: datetime

    def wants(self, event: Event) -> bool:
        """Return whether an event is one to deliver: of a type asked for, and not from before."""
        return self.asks_for(event.type) and event.occurred_at >= self.created_at

    def asks_for(self, event_type: EventType) -> bool:
        """Return whether it is active, and for events of a type."""
        is_asked = self.event_types == "all" or event_type in self.event_types
        return self.status == "active" and is_asked


class Delivery(FrozenModel):
    """One event on its way to one webhook.

    ``body`` is the very text that is sent, the same in every attempt. ``due_at`` is when the next
    attempt may start; only what is ``pending`` has it.
    """

    webhook_id: str
    event_id: str
    organization_id: str
    event_type: EventType
    body: str
    occurred_at: datetime
    status: DeliveryStatus = "pending"
    attempts: int = 0
    due_at: datetime | None = None
    last_attempt_at: datetime | None = None
    last_status: int | None = None
    last_error: DeliveryError | None = None


class WebhookKey(FrozenModel):
    """Which webhook of which organisation; also the message that wakes the deliverer for it."""

    organization_id: str
    webhook_id: str


def key_of(webhook: Webhook) -> WebhookKey:
    """Return what a webhook is found by."""
    return WebhookKey(organization_id=webhook.organization_id, webhook_id=webhook.id)
