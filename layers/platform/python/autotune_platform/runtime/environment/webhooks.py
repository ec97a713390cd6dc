"""Environments of the functions of events and webhooks."""

from autotune_platform.runtime.environment.base import Environment
from autotune_platform.runtime.environment.gateway import GatewayEnvironment


class WebhookEnvironment(Environment):
    """For functions that publish events, or that look after webhooks and deliveries."""

    deliveries_table: str
    webhook_queue_url: str


class EventEnvironment(WebhookEnvironment):
    """For the function that publishes stored events, and audits those of note."""

    audit_table: str


class DeliveryEnvironment(WebhookEnvironment, GatewayEnvironment):
    """For functions that call webhooks, or that check their addresses."""
