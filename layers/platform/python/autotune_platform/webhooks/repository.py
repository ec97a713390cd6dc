"""Where webhooks and deliveries are stored, and the queue that wakes the deliverer."""

import hashlib
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from autotune.protocol.ids import is_id
from autotune_platform.errors import UnavailableError
from autotune_platform.grouping import groups
from autotune_platform.registry import entity_attributes, entity_from
from autotune_platform.table import Item, Table
from autotune_platform.webhooks.models import Delivery, Webhook, WebhookKey

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.type_defs import SendMessageBatchRequestEntryTypeDef

DUE_SHARDS = 8

_KEPT = timedelta(days=30)
_DUE_DELIVERIES = "dueDeliveries"
_MESSAGES_PER_CALL = 10
# Sorts behind every moment, so that a range up to it holds all of a webhook's deliveries.
_END = "~"


class WebhookRepository:
    """Webhooks in the ``registry`` table, under their organisation.

    An organisation's few webhooks are one partition: publishing reads them all at once and
    strongly consistent, which no index could offer.
    """

    def __init__(self, table: Table) -> None:
        self._table = table

    def add(self, webhook: Webhook) -> None:
        """Store a new webhook."""
        self._table.put_new(_webhook_item(webhook))

    def get(self, key: WebhookKey) -> Webhook | None:
        """Return a webhook of an organisation."""
        if not is_id("whk", key.webhook_id):
            return None
        item = self._table.get(_webhooks(key.organization_id), key.webhook_id)
        return _webhook(item) if item else None

    def list(self, organization_id: str) -> list[Webhook]:
        """Return all webhooks of an organisation, oldest first, as they are now."""
        return [_webhook(item) for item in self._table.query(_webhooks(organization_id)).items]


class DeliveryRepository:
    """Deliveries in the table of that name.

    A delivery is found by its webhook and event. While it is pending it is also in the sparse index
    ``dueDeliveries``, whose eight partitions hold webhooks apart and each webhook's by due time.
    """

    def __init__(self, table: Table) -> None:
        self._table = table

    def add(self, delivery: Delivery) -> bool:
        """Store a new delivery; return False where the event was published before."""
        return self._table.put_new(_delivery_item(delivery))


class WakeQueue:
    """The queue of webhooks that have something due."""

    def __init__(self, *, url: str, sqs: "SQSClient") -> None:
        self._url = url
        self._sqs = sqs

    def wake(self, keys: Iterable[WebhookKey], *, delay_seconds: int = 0) -> None:
        """Have webhooks drained, after 0 to 900 seconds; twice does no harm.

        Raises:
            UnavailableError: the queue refused a message.
        """
        for some in groups(keys, _MESSAGES_PER_CALL):
            entries: list[SendMessageBatchRequestEntryTypeDef] = [
                {
                    "Id": str(index),
                    "MessageBody": key.model_dump_json(),
                    "DelaySeconds": delay_seconds,
                }
                for index, key in enumerate(some)
            ]
            answer = self._sqs.send_message_batch(QueueUrl=self._url, Entries=entries)
            if answer.get("Failed"):
                raise UnavailableError("the queue is busy", retry_after_seconds=1)


def _webhooks(organization_id: str) -> str:
    return f"{organization_id}#webhooks"


def _webhook_item(webhook: Webhook) -> Item:
    return {
        "pk": _webhooks(webhook.organization_id),
        "sk": webhook.id,
        **entity_attributes(webhook),
    }


def _webhook(item: Mapping[str, Any]) -> Webhook:
    return entity_from(item, Webhook)


def _delivery_item(delivery: Delivery) -> Item:
    return {
        "pk": delivery.webhook_id,
        "sk": delivery.event_id,
        **delivery.model_dump(mode="json", exclude_none=True),
        "occurredAt": _moment(delivery.occurred_at),
        "expiresAt": int((delivery.occurred_at + _KEPT).timestamp()),
        **_due(delivery),
    }


def _due(delivery: Delivery) -> Item:
    """Return the key of the index of what is due, empty where nothing is."""
    if delivery.due_at is None:
        return {}
    return {
        "dueShard": _due_shard(delivery.webhook_id),
        "duePosition": f"{delivery.webhook_id}#{_moment(delivery.due_at)}",
    }


def _due_shard(webhook_id: str) -> str:
    return f"due#{hashlib.sha256(webhook_id.encode()).digest()[0] % DUE_SHARDS}"


def _moment(at: datetime) -> str:
    # One format for all, because the indexes sort by text.
    return at.astimezone(UTC).isoformat(timespec="milliseconds")
