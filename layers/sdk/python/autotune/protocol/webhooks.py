"""Webhooks and their deliveries on the wire."""

from typing import Annotated, Any, Literal, get_args

from pydantic import (
    Field,
    StringConstraints,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from autotune.protocol import events
from autotune.protocol.limits import MAX_NAMES
from autotune.protocol.types import (
    Description,
    RequestModel,
    ResponseModel,
    Timestamp,
    at_most,
)


def _one_fault(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    """Report what was expected once, where pydantic would do so for each alternative."""
    try:
        return handler(value)
    except ValidationError as error:
        types = ", ".join(get_args(events.EventType))
        raise ValueError(f'expected "all", or a list of one or more of {types}') from error


EventTypes = Annotated[
    Literal["all"] | Annotated[list[events.EventType], Field(min_length=1), at_most(MAX_NAMES)],
    WrapValidator(_one_fault),
]
"""``all`` means every type, those of later versions too."""

WebhookUrl = Annotated[str, StringConstraints(min_length=1, max_length=2_000)]


class CreateWebhookRequest(RequestModel):
    """An HTTPS URL, and which events are posted to it from now on."""

    url: WebhookUrl
    event_types: EventTypes = "all"
    description: Description = ""


class UpdateWebhookRequest(RequestModel):
    """Fields to change.

    ``active`` takes a disabled webhook up again; ``disabled`` ends what is pending as ``failed``.
    """

    url: WebhookUrl | None = None
    event_types: EventTypes | None = None
    description: Description | None = None
    status: events.WebhookStatus | None = None


class Webhook(ResponseModel):
    """A webhook, without its secret.

    ``failing_since`` is the first failure since the last success. After a rotation, the secret
    before signs, too, until ``previous_secret_until``. ``created_by`` is the key that made it.
    """

    id: str
    url: str
    event_types: EventTypes
    description: str
    status: events.WebhookStatus
    disabled_reason: events.DisabledReason | None
    failing_since: Timestamp | None
    previous_secret_until: Timestamp | None
    created_at: Timestamp
    created_by: str | None = None
    updated_at: Timestamp


class WebhookResponse(ResponseModel):
    """One webhook."""

    webhook: Webhook


class WebhookSecretResponse(ResponseModel):
    """``secret`` (``whsec_...``) is shown this once; it cannot be read again."""

    webhook: Webhook
    secret: str


class WebhookList(ResponseModel):
    """All webhooks of the organisation, oldest first."""

    webhooks: list[Webhook]
    next_token: str | None = None


class Delivery(ResponseModel):
    """One event on its way to one webhook.

    ``attempts`` counts since the event or its last replay. ``next_attempt_at`` is known only while
    it is ``pending``. ``last_status`` is the HTTP status that the last attempt brought, if any.
    """

    event_id: str
    webhook_id: str
    event_type: events.EventType
    occurred_at: Timestamp
    status: events.DeliveryStatus
    attempts: int
    next_attempt_at: Timestamp | None
    last_attempt_at: Timestamp | None
    last_status: int | None
    last_error: events.DeliveryError | None


class DeliveryWithBody(Delivery):
    """A delivery with the very text that is sent, the same in every attempt."""

    body: str


class DeliveryResponse(ResponseModel):
    """One delivery."""

    delivery: DeliveryWithBody


class DeliveryList(ResponseModel):
    """A page of a webhook's deliveries, the newest event first; a page may be short."""

    deliveries: list[Delivery]
    next_token: str | None = None
