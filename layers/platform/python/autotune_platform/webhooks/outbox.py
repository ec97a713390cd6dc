"""Events on their way out: stored beside what happened, in one transaction with it.

The table's stream brings them to the publisher. An item is ``<id of what it happened to>`` with
``event#<event id>``, and deletes itself after a month.
"""

import json
from collections.abc import Mapping
from typing import Any

from autotune_platform.storage.item_format import Item, item_from_wire
from autotune_platform.webhooks.models import Event

EVENT_PREFIX = "event#"
_KEPT_SECONDS = 30 * 86_400


def outbox_item(event: Event, *, pk: str) -> Item:
    """Return the item that stores an event beside what it happened to."""
    return {
        "pk": pk,
        "sk": EVENT_PREFIX + event.id,
        **event.model_dump(mode="json", exclude={"data"}),
        "data": json.dumps(event.data, separators=(",", ":")),
        "expiresAt": int(event.occurred_at.timestamp()) + _KEPT_SECONDS,
    }


def event_in(record: Mapping[str, Any]) -> Event:
    """Return the event that a record of the stream brings."""
    item = item_from_wire(record["dynamodb"]["NewImage"])
    return Event.model_validate({**item, "data": json.loads(item["data"])})
