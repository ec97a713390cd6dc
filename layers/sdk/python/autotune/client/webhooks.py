"""``client.webhooks``: who gets events."""

from collections.abc import Sequence
from typing import Literal, Unpack

from autotune.client.arguments import NotGiven, change_of, not_given, request_of
from autotune.client.binding import AsyncResource, ListMethod, Method, Resource
from autotune.client.calls import Call, CallOptions, Listing, call, listing, nothing, returning
from autotune.protocol import webhooks
from autotune.protocol.events import DeliveryStatus, EventType, WebhookStatus

_webhook = returning(webhooks.WebhookResponse, lambda answer: answer.webhook)
_with_secret = returning(webhooks.WebhookSecretResponse)
_delivery = returning(webhooks.DeliveryResponse, lambda answer: answer.delivery)
_webhooks = returning(webhooks.WebhookList, lambda page: (page.webhooks, page.next_token))
_deliveries = returning(webhooks.DeliveryList, lambda page: (page.deliveries, page.next_token))


def create_webhook(
    *,
    url: str,
    event_types: Sequence[EventType] | Literal["all"] | None = None,
    description: str | None = None,
    **options: Unpack[CallOptions],
) -> Call[webhooks.WebhookSecretResponse]:
    """Have events posted to a URL from now on; its secret is in the answer, this once.

    Args:
        url: HTTPS, on port 443 or from 1024.
        event_types: ``score.completed``, ``batch.completed``, ``grader.status_changed``,
            ``grader.version_changed``, ``grader.calibration_suspended``,
            ``review.requested``, ``ledger.batch.completed``,
            ``ledger.batch.needs_operator``, ``ledger.import.completed``,
            ``ledger.connection.paused``,
            ``ledger.connection.resumed``, ``budget.exhausted``, ``budget.warning``,
            ``deck.run.completed``, ``deck.edit.measured``,
            ``deck.proposal.completed``, ``model.promoted``, ``apprentice.alarm``,
            ``apprentice.canary``, ``apprentice.training``, ``apprentice.report``;
            default ``all``, those of later versions too.

    Raises:
        InvalidInputError: a field is out of its range; nothing was sent.
        InvalidRequestError: the URL is not one that Autotune will call.
        ConflictError: the organisation has 20 webhooks already.
    """
    request = request_of(
        webhooks.CreateWebhookRequest, url=url, event_types=event_types, description=description
    )
    return call("POST", "webhooks", read=_with_secret, body=request, **options)


def get_webhook(webhook_id: str, **options: Unpack[CallOptions]) -> Call[webhooks.Webhook]:
    """Read a webhook.

    Raises:
        NotFoundError: there is no such webhook in this organisation.
    """
    return call("GET", "webhooks", webhook_id, read=_webhook, **options)


def list_webhooks(**options: Unpack[CallOptions]) -> Listing[webhooks.Webhook]:
    """Walk through the organisation's webhooks, oldest first."""
    return listing("webhooks", read=_webhooks, **options)


def update_webhook(
    webhook_id: str,
    *,
    url: str | NotGiven = not_given,
    event_types: Sequence[EventType] | Literal["all"] | NotGiven = not_given,
    description: str | NotGiven = not_given,
    status: WebhookStatus | NotGiven = not_given,
    **options: Unpack[CallOptions],
) -> Call[webhooks.Webhook]:
    """Change the fields that are given.

    Args:
        status: ``active`` takes a disabled webhook up again; ``disabled`` ends what is pending.

    Raises:
        InvalidInputError: a field is out of its range; nothing was sent.
        NotFoundError: there is no such webhook in this organisation.
        InvalidRequestError: the URL is not one that Autotune will call.
        ConflictError: it changed at the same time.
    """
    request = change_of(
        webhooks.UpdateWebhookRequest,
        url=url,
        event_types=event_types,
        description=description,
        status=status,
    )
    return call("PATCH", "webhooks", webhook_id, read=_webhook, body=request, **options)


def delete_webhook(webhook_id: str, **options: Unpack[CallOptions]) -> Call[None]:
    """Delete a webhook; nothing is sent to it any more.

    Raises:
        NotFoundError: there is no such webhook in this organisation.
    """
    return call("DELETE", "webhooks", webhook_id, read=nothing, **options)


def rotate_webhook_secret(
    webhook_id: str, **options: Unpack[CallOptions]
) -> Call[webhooks.WebhookSecretResponse]:
    """Give a webhook a new secret, in the answer, this once; the old one signs for 24 hours more.

    Raises:
        NotFoundError: there is no such webhook in this organisation.
        ConflictError: it changed at the same time.
    """
    return call("POST", "webhooks", webhook_id, "rotate-secret", read=_with_secret, **options)


def list_deliveries(
    webhook_id: str,
    *,
    status: DeliveryStatus | None = None,
    page_size: int | None = None,
    **options: Unpack[CallOptions],
) -> Listing[webhooks.Delivery]:
    """Walk through a webhook's deliveries of the last 30 days, the newest event first.

    Args:
        status: only those that are ``pending``, ``delivered`` or ``failed``.
        page_size: deliveries fetched at a time, 1 to 200.
    """
    return listing(
        "webhooks",
        webhook_id,
        "deliveries",
        read=_deliveries,
        page_size=page_size,
        query={"status": status},
        **options,
    )


def get_delivery(
    webhook_id: str, event_id: str, **options: Unpack[CallOptions]
) -> Call[webhooks.DeliveryWithBody]:
    """Read the delivery of one event, with the text that is sent.

    Raises:
        NotFoundError: there is no such webhook or delivery in this organisation.
    """
    return call("GET", "webhooks", webhook_id, "deliveries", event_id, read=_delivery, **options)


def replay_delivery(
    webhook_id: str, event_id: str, **options: Unpack[CallOptions]
) -> Call[webhooks.DeliveryWithBody]:
    """Have an event sent again at once, under the same id and with all its attempts.

    Raises:
        NotFoundError: there is no such webhook or delivery in this organisation.
        ConflictError: the webhook is disabled.
    """
    return call(
        "POST", "webhooks", webhook_id, "deliveries", event_id, "replay", read=_delivery, **options
    )


class WebhookMethods:
    """Methods of webhooks."""

    create = Method(create_webhook)
    get = Method(get_webhook)
    list = ListMethod(list_webhooks)
    update = Method(update_webhook)
    delete = Method(delete_webhook)
    rotate_secret = Method(rotate_webhook_secret)
    deliveries = ListMethod(list_deliveries)
    delivery = Method(get_delivery)
    replay = Method(replay_delivery)


class Webhooks(WebhookMethods, Resource):
    """Webhooks, blocking."""


class AsyncWebhooks(WebhookMethods, AsyncResource):
    """Webhooks, for an event loop."""
