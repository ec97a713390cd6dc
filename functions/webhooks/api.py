"""Webhooks and their deliveries."""

from functools import cache
from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Query

from autotune.protocol.events import DeliveryStatus
from autotune.protocol.webhooks import (
    CreateWebhookRequest,
    DeliveryList,
    DeliveryResponse,
    DeliveryWithBody,
    UpdateWebhookRequest,
    WebhookList,
    WebhookResponse,
    WebhookSecretResponse,
)
from autotune.protocol.webhooks import Delivery as WireDelivery
from autotune.protocol.webhooks import Webhook as WireWebhook
from autotune_platform.http.api import Api
from autotune_platform.http.parameters import NextToken, PageSize
from autotune_platform.runtime.environment.webhooks import DeliveryEnvironment
from autotune_platform.webhooks.models import Delivery, Webhook
from autotune_platform.wiring.webhooks import WebhookApiParts


@cache
def parts() -> WebhookApiParts:
    """Return what this process is put together from."""
    return WebhookApiParts(DeliveryEnvironment.parse())


app = Api(parts)


@app.post("/api/v1/webhooks", status_code=201, tags=["webhooks"])
def create_webhook(body: CreateWebhookRequest) -> WebhookSecretResponse:
    """Have events posted to a URL from now on; the secret that signs them is shown this once."""
    webhook, secret = parts().webhooks.create(app.caller, body)
    app.made(webhook_id=webhook.id)
    return WebhookSecretResponse(webhook=_on_wire(webhook), secret=secret)


@app.get("/api/v1/webhooks", tags=["webhooks"])
def list_webhooks() -> WebhookList:
    """List the organisation's webhooks, oldest first."""
    return WebhookList(
        webhooks=[_on_wire(webhook) for webhook in parts().webhooks.list(app.caller)]
    )


@app.get("/api/v1/webhooks/<webhook_id>", tags=["webhooks"])
def read_webhook(webhook_id: str) -> WebhookResponse:
    """Return one webhook."""
    return WebhookResponse(webhook=_on_wire(parts().webhooks.get(app.caller, webhook_id)))


@app.patch("/api/v1/webhooks/<webhook_id>", tags=["webhooks"])
def update_webhook(webhook_id: str, body: UpdateWebhookRequest) -> WebhookResponse:
    """Change a webhook, disable it or take it up again."""
    return WebhookResponse(webhook=_on_wire(parts().webhooks.update(app.caller, webhook_id, body)))


@app.delete("/api/v1/webhooks/<webhook_id>", status_code=204, tags=["webhooks"])
def delete_webhook(webhook_id: str) -> None:
    """Delete a webhook; nothing is sent to it any more."""
    parts().webhooks.delete(app.caller, webhook_id)


@app.post("/api/v1/webhooks/<webhook_id>/rotate-secret", tags=["webhooks"])
def rotate_webhook_secret(webhook_id: str) -> WebhookSecretResponse:
    """Give a webhook a new secret, shown this once; for 24 hours the one before signs, too."""
    webhook, secret = parts().webhooks.rotate_secret(app.caller, webhook_id)
    return WebhookSecretResponse(webhook=_on_wire(webhook), secret=secret)


@app.get("/api/v1/webhooks/<webhook_id>/deliveries", tags=["webhooks"])
def list_deliveries(
    webhook_id: str,
    status: Annotated[DeliveryStatus | None, Query()] = None,
    limit: PageSize = 50,
    next_token: NextToken = None,
) -> DeliveryList:
    """List a webhook's deliveries of the last 30 days, the newest event first."""
    deliveries, token = parts().delivery_history.list(
        app.caller, webhook_id, status=status, limit=limit, next_token=next_token
    )
    return DeliveryList(
        deliveries=[WireDelivery(**_delivery_fields(one)) for one in deliveries], next_token=token
    )


@app.get("/api/v1/webhooks/<webhook_id>/deliveries/<event_id>", tags=["webhooks"])
def read_delivery(webhook_id: str, event_id: str) -> DeliveryResponse:
    """Return the delivery of one event, with its body."""
    return _with_body(parts().delivery_history.get(app.caller, webhook_id, event_id))


@app.post(
    "/api/v1/webhooks/<webhook_id>/deliveries/<event_id>/replay",
    status_code=202,
    tags=["webhooks"],
)
def replay_delivery(webhook_id: str, event_id: str) -> DeliveryResponse:
    """Have an event sent again at once, under the same id and with all its attempts."""
    return _with_body(parts().delivery_history.replay(app.caller, webhook_id, event_id))


def _on_wire(webhook: Webhook) -> WireWebhook:
    return WireWebhook.model_validate(
        webhook.model_dump(exclude={"organization_id", "secret_version"})
    )


def _with_body(delivery: Delivery) -> DeliveryResponse:
    return DeliveryResponse(
        delivery=DeliveryWithBody(**_delivery_fields(delivery), body=delivery.body)
    )


def _delivery_fields(delivery: Delivery) -> dict[str, Any]:
    fields = delivery.model_dump(exclude={"organization_id", "body", "due_at"})
    return {**fields, "next_attempt_at": delivery.due_at}


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one HTTP request."""
    return app.handle(event, context)
