"""Where webhooks and their deliveries are stored."""

import hashlib
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from autotune.protocol.ids import is_id
from autotune_platform.storage.item_format import moment
from autotune_platform.storage.registry import entity_attributes, entity_from
from autotune_platform.storage.table import Item, Page, Table
from autotune_platform.webhooks.models import Delivery, Webhook, WebhookKey

DUE_SHARDS = 8

_KEPT = timedelta(days=30)
_BY_TIME = "deliveriesByTime"
_DUE = "dueDeliveries"
_DUE_PAGE = 64
# They sort behind and before every id and moment: a range up to "whk_1#~" ends with webhook 1.
_END = "~"
_FIRST = "!"


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
        return entity_from(item, Webhook) if item else None

    def list(self, organization_id: str) -> list[Webhook]:
        """Return all webhooks of an organisation, oldest first, as they are now."""
        page = self._table.query(_webhooks(organization_id))
        return [entity_from(item, Webhook) for item in page.items]

    def change(self, before: Webhook, after: Webhook, *, unless_changed: Iterable[str]) -> bool:
        """Store what differs; return False where one of the fields named was changed meanwhile."""
        old, new = entity_attributes(before), entity_attributes(after)
        changes = {name: value for name, value in new.items() if value != old.get(name)}
        gone = sorted(set(old) - set(new))
        if not changes and not gone:
            return True
        expected = {name: old[name] for name in unless_changed}
        pk = _webhooks(before.organization_id)
        return self._table.update(pk, before.id, changes, remove=gone, only_if=expected) is not None

    def delete(self, webhook: Webhook) -> None:
        """Delete a webhook; its pending deliveries end on their own."""
        self._table.delete(_webhooks(webhook.organization_id), webhook.id)


class DeliveryRepository:
    """Deliveries in the table of that name.

    A delivery is found by its webhook and event. While it is pending it is also in the sparse index
    ``dueDeliveries``: eight partitions, in each the webhooks apart and each webhook's by due time.
    """

    def __init__(self, table: Table) -> None:
        self._table = table

    def add(self, delivery: Delivery) -> bool:
        """Store a new delivery; return False where the event was published before."""
        return self._table.put_new(
            {
                **delivery.model_dump(mode="json", exclude_none=True),
                "pk": delivery.webhook_id,
                "sk": delivery.event_id,
                "event_time": moment(delivery.occurred_at),
                "expires_at": int((delivery.occurred_at + _KEPT).timestamp()),
                **_due(delivery),
            }
        )

    def get(self, webhook_id: str, event_id: str) -> Delivery | None:
        """Return the delivery of an event to a webhook."""
        if not (is_id("whk", webhook_id) and is_id("evt", event_id)):
            return None
        item = self._table.get(webhook_id, event_id)
        return Delivery.model_validate(item) if item else None

    def newest(
        self, webhook_id: str, *, after: tuple[datetime, str] | None, page_size: int
    ) -> Iterator[Delivery]:
        """Yield a webhook's deliveries, the newest event first.

        Args:
            after: where to go on: an event's time and its id.
            page_size: how many are read at a time.
        """
        start: Item | None = None
        if after is not None:
            start = {"pk": webhook_id, "event_time": moment(after[0]), "sk": after[1]}
        for page in self._table.pages(
            webhook_id, index=_BY_TIME, limit=page_size, after=start, newest_first=True
        ):
            yield from self._load(page)

    def pending(self, webhook_id: str, *, until: datetime | None = None) -> Iterator[Delivery]:
        """Yield what is pending for a webhook, the longest due first.

        Args:
            until: only what is due by then.
        """
        last = _position(webhook_id, until) if until else _position(webhook_id) + _END
        for page in self._due_pages(
            _due_shard(webhook_id), _position(webhook_id), last, limit=_DUE_PAGE
        ):
            # The index may be a moment behind; the items themselves are not.
            for delivery in self._load(page):
                if delivery.due_at and _position(webhook_id, delivery.due_at) <= last:
                    yield delivery

    def next_due(self, webhook_id: str, *, after: datetime) -> datetime | None:
        """Return when the first pending delivery after a moment is due."""
        first, last = _position(webhook_id, after) + _END, _position(webhook_id) + _END
        item = self._first_due(_due_shard(webhook_id), first, last)
        return datetime.fromisoformat(item["due_position"].partition("#")[2]) if item else None

    def webhooks_due(self, now: datetime) -> Iterator[WebhookKey]:
        """Yield each webhook that has something due: one read for each with anything pending.

        Skips from webhook to webhook, however much is pending for each; where nothing is, it reads
        each of the eight partitions once.
        """
        for shard in range(DUE_SHARDS):
            start = _FIRST
            while item := self._first_due(f"due#{shard}", start, _END):
                if item["due_position"] <= _position(item["pk"], now):
                    yield WebhookKey(organization_id=item["organization_id"], webhook_id=item["pk"])
                start = _position(item["pk"]) + _END

    def replace(self, before: Delivery, after: Delivery) -> bool:
        """Store how a delivery goes on; return False where it went on otherwise meanwhile."""
        old, new = _progress(before), _progress(after)
        changes = {name: value for name, value in new.items() if value != old.get(name)}
        expected: Item = {name: old[name] for name in ("status", "due_at") if name in old}
        return (
            self._table.update(
                before.webhook_id,
                before.event_id,
                changes,
                remove=sorted(set(old) - set(new)),
                only_if=expected,
            )
            is not None
        )

    def _due_pages(self, shard: str, first: str, last: str, *, limit: int) -> Iterator[Page]:
        """Yield what is pending from one position to another, both included."""
        between = ("due_position", first, last)
        return self._table.pages(
            shard, partition_name="due_shard", index=_DUE, between=between, limit=limit
        )

    def _first_due(self, shard: str, first: str, last: str) -> Item | None:
        return next(iter(next(self._due_pages(shard, first, last, limit=1)).items), None)

    def _load(self, page: Page) -> list[Delivery]:
        keys = [(item["pk"], item["sk"]) for item in page.items]
        items = self._table.get_many(keys)
        return [Delivery.model_validate(items[key]) for key in keys if key in items]


def _webhooks(organization_id: str) -> str:
    return f"{organization_id}#webhooks"


def _webhook_item(webhook: Webhook) -> Item:
    return {
        "pk": _webhooks(webhook.organization_id),
        "sk": webhook.id,
        **entity_attributes(webhook),
    }


def _progress(delivery: Delivery) -> Item:
    """Return the attributes that change while a delivery goes on."""
    fixed = {"webhook_id", "event_id", "organization_id", "event_type", "body", "occurred_at"}
    return {**delivery.model_dump(mode="json", exclude_none=True, exclude=fixed), **_due(delivery)}


def _due(delivery: Delivery) -> Item:
    """Return the key of the index of what is due, empty where nothing is."""
    if delivery.due_at is None:
        return {}
    return {
        "due_shard": _due_shard(delivery.webhook_id),
        "due_position": _position(delivery.webhook_id, delivery.due_at),
    }


def _due_shard(webhook_id: str) -> str:
    return f"due#{hashlib.sha256(webhook_id.encode()).digest()[0] % DUE_SHARDS}"


def _position(webhook_id: str, at: datetime | None = None) -> str:
    """Return a place among a webhook's pending deliveries: before them all, or at a moment."""
    return f"{webhook_id}#{moment(at) if at else ''}"
