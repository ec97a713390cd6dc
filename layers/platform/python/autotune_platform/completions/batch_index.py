"""Which batches an organisation has, by when they came: an index of keys alone.

An organisation's batches are spread over as many partitions as there are lanes, so that none takes
all of its writes; a list merges them. What else is known of a batch is in its own item. One that
came before the index was there is not in it.
"""

import hashlib
import heapq
from collections.abc import Iterator

from autotune_platform.completions.models import Batch
from autotune_platform.storage.item_format import moment
from autotune_platform.storage.table import Item, Table

BATCH_LANES = 8
"""It may never be changed: a batch stays in the partition that it was stored in."""

_BY_TIME = "batchesByTime"
_FIRST = "0"
LAST = "~"
"""A position behind all others."""


def listing_of(batch: Batch) -> Item:
    """Return the attributes that put a batch into the index; they never change."""
    lane = hashlib.sha256(batch.id.encode()).digest()[0] % BATCH_LANES
    return {
        "batch_shard": _partition(batch.organization_id, lane),
        "batch_time": f"{moment(batch.created_at)}#{batch.id}",
    }


class BatchIndex:
    """The index ``batchesByTime`` of the ``completions`` table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def newest(
        self, organization_id: str, *, below: str, at_a_time: int
    ) -> Iterator[tuple[str, str]]:
        """Yield position and id of an organisation's batches, the youngest first.

        It may miss what was stored in the last second.

        Args:
            below: the highest position, left out.
            at_a_time: how many are read of each lane with one query.
        """
        lanes = [
            self._table.items(
                _partition(organization_id, lane),
                partition_name="batch_shard",
                index=_BY_TIME,
                newest_first=True,
                limit=at_a_time,
                between=("batch_time", _FIRST, below),
            )
            for lane in range(BATCH_LANES)
        ]
        merged = heapq.merge(*lanes, key=lambda one: str(one["batch_time"]), reverse=True)
        return ((one["batch_time"], one["pk"]) for one in merged if one["batch_time"] != below)


def _partition(organization_id: str, lane: int) -> str:
    return f"{organization_id}#{lane}"
