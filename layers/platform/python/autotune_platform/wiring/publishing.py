"""Parts that publish events, and wake what delivers them."""

from functools import cached_property

from autotune_platform.audit.events import EventAudit
from autotune_platform.audit.repository import AuditRepository
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment.webhooks import EventEnvironment, WebhookEnvironment
from autotune_platform.storage.changes import Route, Router
from autotune_platform.storage.table import Table
from autotune_platform.storage.versioned_states import VersionedStates
from autotune_platform.webhooks.drains import DRAIN_KEPT_SECONDS
from autotune_platform.webhooks.following import EventFollower
from autotune_platform.webhooks.outbox import NEW_EVENTS
from autotune_platform.webhooks.publisher import EventPublisher
from autotune_platform.webhooks.repository import DeliveryRepository, WebhookRepository
from autotune_platform.webhooks.waking import DeliverySweeper, WakeQueue
from autotune_platform.wiring.access import RegistryParts


class PublisherParts(RegistryParts):
    """What publishes events, and wakes what delivers them."""

    environment: WebhookEnvironment

    @cached_property
    def deliveries_table(self) -> Table:
        return Table(self.environment.deliveries_table, clients.dynamodb())

    @cached_property
    def webhook_repository(self) -> WebhookRepository:
        return WebhookRepository(self.registry_table)

    @cached_property
    def deliveries(self) -> DeliveryRepository:
        return DeliveryRepository(self.deliveries_table)

    @cached_property
    def drains(self) -> VersionedStates:
        return VersionedStates(self.deliveries_table, kept_seconds=DRAIN_KEPT_SECONDS)

    @cached_property
    def wake_queue(self) -> WakeQueue:
        url = self.environment.webhook_queue_url
        return WakeQueue(url=url, sqs=clients.sqs(), drains=self.drains)

    @cached_property
    def publisher(self) -> EventPublisher:
        return EventPublisher(
            webhooks=self.webhook_repository, deliveries=self.deliveries, queue=self.wake_queue
        )


class EventParts(PublisherParts):
    """What publishes stored events, and has those of note in the audit log."""

    environment: EventEnvironment

    @cached_property
    def event_follower(self) -> EventFollower:
        audit = AuditRepository(Table(self.environment.audit_table, clients.dynamodb()))
        return EventFollower(publisher=self.publisher, audit=EventAudit(repository=audit))

    @cached_property
    def event_router(self) -> Router:
        return Router(Route(NEW_EVENTS, lambda: self.event_follower))


class DeliverySweepParts(PublisherParts):
    """What wakes webhooks whose wake-up was lost."""

    @cached_property
    def delivery_sweeper(self) -> DeliverySweeper:
        return DeliverySweeper(deliveries=self.deliveries, queue=self.wake_queue)
