"""Events on their way out: stored beside what happened, in one transaction with it.

The table's stream brings them to the publisher. An item is ``<id of what it happened to>`` with
``event#<event id>``, and deletes itself after a month.
"""

import json

from autotune_platform.storage.changes import Change, ChangeKind
from autotune_platform.storage.counting import Addition
from autotune_platform.storage.item_format import Item
from autotune_platform.storage.transactions import Put
from autotune_platform.webhooks.models import Event

EVENT_PREFIX = "event#"
_KEPT_SECONDS = 30 * 86_400

NEW_EVENTS = [ChangeKind("INSERT", EVENT_PREFIX)]
"""Changes by which events are stored."""


def outbox_item(event: Event, *, pk: str) -> Item:
    """Return the item that stores an event beside what it happened to."""
    return {
        "pk": pk,
        "sk": EVENT_PREFIX + event.id,
        **event.model_dump(mode="json", exclude={"data"}),
        "data": json.dumps(event.data, separators=(",", ":")),
        "expires_at": int(event.occurred_at.timestamp()) + _KEPT_SECONDS,
    }


def outbox_put(event: Event, *, pk: str) -> Put:
    """Return what stores an event in a transaction of one table."""
    return Put(item=outbox_item(event, pk=pk))


def outbox_addition(event: Event, *, table: str, pk: str) -> Addition:
    """Return what stores an event in a transaction that counts in the same or another table."""
    item = outbox_item(event, pk=pk)
    changes = {name: value for name, value in item.items() if name not in ("pk", "sk")}
    return Addition(table=table, pk=pk, sk=item["sk"], changes=changes)


def event_in(change: Change) -> Event:
    """Return the event that a change stores."""
    return Event.model_validate({**change.new, "data": json.loads(change.new["data"])})
