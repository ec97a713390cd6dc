"""Parts that publish and deliver events."""

from functools import cached_property

from autotune_platform.runtime.environment.webhooks import DeliveryEnvironment
from autotune_platform.webhooks.delivering import Deliverer
from autotune_platform.webhooks.history import DeliveryHistory
from autotune_platform.webhooks.secrets import WebhookSecrets
from autotune_platform.webhooks.sending import WebhookSender
from autotune_platform.webhooks.service import WebhookService
from autotune_platform.wiring.access import ApiParts
from autotune_platform.wiring.gateway import GatewayParts
from autotune_platform.wiring.publishing import PublisherParts


class WebhookSecretParts(PublisherParts, GatewayParts):
    """What webhooks are signed with."""

    environment: DeliveryEnvironment

    @cached_property
    def webhook_secrets(self) -> WebhookSecrets:
        return WebhookSecrets(self.secrets)


class DelivererParts(WebhookSecretParts):
    """What delivers events."""

    @cached_property
    def deliverer(self) -> Deliverer:
        return Deliverer(
            webhooks=self.webhook_repository,
            deliveries=self.deliveries,
            drains=self.drains,
            queue=self.wake_queue,
            sender=WebhookSender(self.connections),
            secrets=self.webhook_secrets,
        )


class WebhookApiParts(ApiParts, WebhookSecretParts):
    """What manages webhooks."""

    environment: DeliveryEnvironment

    @cached_property
    def webhooks(self) -> WebhookService:
        return WebhookService(
            webhooks=self.webhook_repository,
            queue=self.wake_queue,
            secrets=self.webhook_secrets,
            admit_private=self.environment.admit_private_addresses,
        )

    @cached_property
    def delivery_history(self) -> DeliveryHistory:
        return DeliveryHistory(
            webhooks=self.webhooks, deliveries=self.deliveries, queue=self.wake_queue
        )
