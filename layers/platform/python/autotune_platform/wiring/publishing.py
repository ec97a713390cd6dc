"""Parts that publish events, and wake what delivers them."""

from functools import cached_property

from autotune_platform.runtime import clients
from autotune_platform.runtime.environment import WebhookEnvironment
from autotune_platform.storage.changes import Route, Router
from autotune_platform.storage.table import Table
from autotune_platform.webhooks.calls import DrainCalls
from autotune_platform.webhooks.deliveries import DeliveryRepository
from autotune_platform.webhooks.outbox import NEW_EVENTS
from autotune_platform.webhooks.publisher import EventPublisher
from autotune_platform.webhooks.repository import WakeQueue, WebhookRepository
from autotune_platform.webhooks.sweeping import DeliverySweeper
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
    def drain_calls(self) -> DrainCalls:
        return DrainCalls(self.deliveries_table)

    @cached_property
    def wake_queue(self) -> WakeQueue:
        return WakeQueue(url=self.environment.webhook_queue_url, sqs=clients.sqs())

    @cached_property
    def publisher(self) -> EventPublisher:
        return EventPublisher(
            webhooks=self.webhook_repository,
            deliveries=self.deliveries,
            calls=self.drain_calls,
            queue=self.wake_queue,
        )


class EventParts(PublisherParts):
    """What publishes the registry's events."""

    @cached_property
    def event_router(self) -> Router:
        return Router(Route(NEW_EVENTS, lambda: self.publisher))


class DeliverySweepParts(PublisherParts):
    """What wakes webhooks whose wake-up was lost."""

    @cached_property
    def delivery_sweeper(self) -> DeliverySweeper:
        return DeliverySweeper(
            deliveries=self.deliveries, calls=self.drain_calls, queue=self.wake_queue
        )
