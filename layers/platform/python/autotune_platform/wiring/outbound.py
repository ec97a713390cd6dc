"""Parts that call graders, and those that publish and deliver events."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from autotune_platform.runtime import clients
from autotune_platform.runtime.environment import (
    DeliveryEnvironment,
    GatewayEnvironment,
    WebhookEnvironment,
)
from autotune_platform.storage.table import Table
from autotune_platform.wiring.registry import RegistryParts

if TYPE_CHECKING:
    import httpcore

    from autotune_platform.gateway.gateway import GraderGateway
    from autotune_platform.graders.probing import GraderProbing
    from autotune_platform.graders.verification import GraderVerification
    from autotune_platform.storage.changes import Router
    from autotune_platform.webhooks.calls import DrainCalls
    from autotune_platform.webhooks.deliveries import DeliveryRepository
    from autotune_platform.webhooks.delivering import Deliverer
    from autotune_platform.webhooks.history import DeliveryHistory
    from autotune_platform.webhooks.publisher import EventPublisher
    from autotune_platform.webhooks.repository import WakeQueue, WebhookRepository
    from autotune_platform.webhooks.secrets import WebhookSecrets
    from autotune_platform.webhooks.service import WebhookService
    from autotune_platform.webhooks.sweeping import DeliverySweeper


class GatewayParts(RegistryParts):
    """What calls graders."""

    environment: GatewayEnvironment

    @cached_property
    def connections(self) -> httpcore.ConnectionPool:
        from autotune_platform.outbound.connections import connection_pool

        return connection_pool(admit_private=self.environment.admit_private_addresses)

    @cached_property
    def gateway(self) -> GraderGateway:
        from autotune_platform.gateway.gateway import GraderGateway

        return GraderGateway(self.connections)

    @cached_property
    def verification(self) -> GraderVerification:
        from autotune_platform.graders.verification import GraderVerification

        return GraderVerification(graders=self.grader_service, gateway=self.gateway)

    @cached_property
    def probing(self) -> GraderProbing:
        from autotune_platform.graders.probing import GraderProbing

        return GraderProbing(graders=self.grader_service, gateway=self.gateway)


class WebhookParts(RegistryParts):
    """What publishes events, and wakes what delivers them."""

    environment: WebhookEnvironment

    @cached_property
    def deliveries_table(self) -> Table:
        return Table(self.environment.deliveries_table, clients.dynamodb())

    @cached_property
    def webhook_repository(self) -> WebhookRepository:
        from autotune_platform.webhooks.repository import WebhookRepository

        return WebhookRepository(self.registry_table)

    @cached_property
    def deliveries(self) -> DeliveryRepository:
        from autotune_platform.webhooks.deliveries import DeliveryRepository

        return DeliveryRepository(self.deliveries_table)

    @cached_property
    def drain_calls(self) -> DrainCalls:
        from autotune_platform.webhooks.calls import DrainCalls

        return DrainCalls(self.deliveries_table)

    @cached_property
    def wake_queue(self) -> WakeQueue:
        from autotune_platform.webhooks.repository import WakeQueue

        return WakeQueue(url=self.environment.webhook_queue_url, sqs=clients.sqs())

    @cached_property
    def publisher(self) -> EventPublisher:
        from autotune_platform.webhooks.publisher import EventPublisher

        return EventPublisher(
            webhooks=self.webhook_repository,
            deliveries=self.deliveries,
            calls=self.drain_calls,
            queue=self.wake_queue,
        )

    @cached_property
    def event_router(self) -> Router:
        from autotune_platform.storage.changes import Route, Router
        from autotune_platform.webhooks.outbox import NEW_EVENTS

        return Router(Route(NEW_EVENTS, lambda: self.publisher))

    @cached_property
    def delivery_sweeper(self) -> DeliverySweeper:
        from autotune_platform.webhooks.sweeping import DeliverySweeper

        return DeliverySweeper(
            deliveries=self.deliveries, calls=self.drain_calls, queue=self.wake_queue
        )


class DeliveryParts(WebhookParts, GatewayParts):
    """What delivers events, and manages webhooks."""

    environment: DeliveryEnvironment

    @cached_property
    def webhook_secrets(self) -> WebhookSecrets:
        from autotune_platform.webhooks.secrets import WebhookSecrets

        return WebhookSecrets(self.secrets)

    @cached_property
    def webhooks(self) -> WebhookService:
        from autotune_platform.webhooks.service import WebhookService

        return WebhookService(
            webhooks=self.webhook_repository,
            queue=self.wake_queue,
            secrets=self.webhook_secrets,
            admit_private=self.environment.admit_private_addresses,
        )

    @cached_property
    def deliverer(self) -> Deliverer:
        from autotune_platform.storage.versioned_states import VersionedStates
        from autotune_platform.webhooks.delivering import Deliverer
        from autotune_platform.webhooks.drains import DRAIN_KEPT_SECONDS
        from autotune_platform.webhooks.sending import WebhookSender

        return Deliverer(
            webhooks=self.webhook_repository,
            deliveries=self.deliveries,
            drains=VersionedStates(self.deliveries_table, kept_seconds=DRAIN_KEPT_SECONDS),
            queue=self.wake_queue,
            sender=WebhookSender(self.connections),
            secrets=self.webhook_secrets,
        )

    @cached_property
    def delivery_history(self) -> DeliveryHistory:
        from autotune_platform.webhooks.history import DeliveryHistory

        return DeliveryHistory(
            webhooks=self.webhooks, deliveries=self.deliveries, queue=self.wake_queue
        )
