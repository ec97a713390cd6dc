"""Where in its queue a row waits: attributes of its item, which an index finds it by.

Most wait by priority, and since when they may be asked. Rows that cost more than a budget lets any
cost are set aside, by what they cost, so that those that another budget has room for are found
without a look at the others.
"""

import hashlib
from collections.abc import Mapping
from datetime import datetime

from autotune.protocol.completions import Priority
from autotune_platform.ledger.models import Group, Row
from autotune_platform.storage.item_format import moment
from autotune_platform.storage.table import Item

QUEUES = "queuedRows"
SHARDS = 4
PLACE = ("queue_shard", "queue_position")
RANKS: Mapping[Priority, str] = {"high": "0", "normal": "1", "low": "2"}

_SET_ASIDE = "setAside"
_LONGEST_COST = 20


def place(row: Row, at: datetime) -> Item:
    """Return the place of a row that may be asked from a time on."""
    return {
        "queue_shard": partition(row.group, digit(row.id, SHARDS)),
        "queue_position": f"{RANKS[row.priority]}#{moment(at)}#{row.id}",
    }


def place_aside(row: Row) -> Item:
    """Return the place of a row that costs more than its organisation lets any cost."""
    return {
        "queue_shard": partition_aside(row.group),
        "queue_position": f"{row.bound_nano_usd:0{_LONGEST_COST}}#{row.id}",
    }


def partition(group: Group, shard: int | str) -> str:
    """Return the partition of a queue's shard."""
    return f"{group.connection_id}#{group.mode}#{group.model}#{shard}"


def partition_aside(group: Group) -> str:
    """Return the partition of rows that are set aside; few are, so that it is one."""
    return partition(group, _SET_ASIDE)


def costs_at_most(nano_usd: int | None) -> tuple[str, str]:
    """Return between which places those are that cost no more, of those set aside; None for all."""
    return "0", "~" if nano_usd is None else f"{nano_usd:0{_LONGEST_COST}}$"


def time_in(position: str) -> datetime:
    """Return from when on the row may be asked that waits at a place."""
    return datetime.fromisoformat(position.split("#")[1])


def digit(row_id: str, shards: int) -> int:
    """Return which of as many shards a row is in."""
    return hashlib.sha256(row_id.encode()).digest()[0] % shards
