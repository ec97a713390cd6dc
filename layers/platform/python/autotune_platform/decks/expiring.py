"""What expires of decks: each has an item that says when, in an index that is swept.

The table's own time to live would remove an item and leave behind what belongs to it: a sample's
count, its results and ratings, and its texts in the bucket.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from autotune_platform.storage.due_index import DueIndex
from autotune_platform.storage.table import Item, Key, Table

EXPIRY = "expiry"
_INDEX = "dueDecks"
SHARDS = 8


def due_index(table: Table) -> DueIndex:
    """Return the index of what expires, by when."""
    return DueIndex(table, sk=EXPIRY, index=_INDEX, shards=SHARDS)


def expiry_key(pk: str) -> Key:
    """Return the key of the item that says when something expires."""
    return pk, EXPIRY


def expiring(pk: str, at: datetime, attributes: Mapping[str, Any]) -> Item:
    """Return the item that has something of a partition of its own erased once it expired.

    Args:
        attributes: its ``organization_id``, and what else the sweep is to know.
    """
    opened = DueIndex.opened_in(pk, at, shards=SHARDS)
    return {**attributes, **opened, "pk": pk, "sk": EXPIRY}
