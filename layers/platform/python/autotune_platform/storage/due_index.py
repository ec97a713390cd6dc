"""Open items of a table, by when somebody is to look at them.

An item is open while it has its shard and its time in the index. The index has as many partitions
as there are shards, so that no partition takes every write; a look reads each of them.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice, zip_longest
from typing import Any, NamedTuple

from autotune_platform.runtime.threads import in_parallel
from autotune_platform.storage.expressions import Filter, Page
from autotune_platform.storage.item_format import Item, moment
from autotune_platform.storage.table import Table

OPEN_SHARD = "open_shard"
_CONCURRENT_READS = 8


class Soonest(NamedTuple):
    """When open items of an owner are due, in order, and whether these are all.

    ``read`` items of all owners were read to find them.
    """

    due: Mapping[str, datetime]
    is_complete: bool
    read: int


def due_of(
    table: Table, partition: str, before: datetime, *, index: str, limit: int
) -> Iterator[Item]:
    """Yield what is due in a partition of few items, the longest due first.

    Each is read from the table: what the index has may be older, and is left out if it is gone.

    Args:
        partition: the ``open_shard`` that its items have.
    """
    found = table.items(
        partition,
        partition_name=OPEN_SHARD,
        index=index,
        below=("due_at", moment(before)),
    )
    for item in islice(found, limit):
        stored = table.get(item["pk"], item["sk"])
        if stored is not None:
            yield stored


class DueIndex:
    """Finds what is due, and moves, claims or closes it.

    Args:
        sk: sort key of the items.
        index: name of the index over the attributes ``open_shard`` and ``due_at``, which has each
            item's ``organization_id``.
        shards: over how many partitions the items are spread, by a digest of their ``pk``. It may
            be raised while items are open, and never lowered.
    """

    ATTRIBUTES = (OPEN_SHARD, "due_at")
    """What an item has while it is open; one without these is closed."""

    def __init__(self, table: Table, *, sk: str, index: str, shards: int) -> None:
        self._table = table
        self._sk = sk
        self._index = index
        self._shards = shards

    def opened(self, pk: str, due_at: datetime) -> Item:
        """Return the attributes that open an item."""
        return self.opened_in(pk, due_at, shards=self._shards)

    @staticmethod
    def opened_in(pk: str, due_at: datetime, *, shards: int) -> Item:
        """Return the attributes that open an item of an index with so many shards."""
        return {OPEN_SHARD: _shard_of(pk, shards), "due_at": moment(due_at)}

    @staticmethod
    def is_open(item: Item) -> bool:
        """Return whether an item is in the index."""
        return OPEN_SHARD in item

    def due(
        self, now: datetime, *, limit: int, part: int = 0, parts: int = 1
    ) -> dict[str, datetime]:
        """Return since when items are due, by ``pk``, in order: of each owner one in turn.

        An owner's own come in the order of their times, so that whoever has many of them holds up
        nobody who has one.

        Args:
            limit: most items that are read of each shard, the longest due first. What is behind
                them waits until they are moved or closed.
            part: which of as many ``parts`` of the shards are read.
        """
        by_owner: dict[str, list[Item]] = {}
        for shard in range(part, self._shards, parts):
            for item in islice(self._due_in(shard, now), limit):
                by_owner.setdefault(item["organization_id"], []).append(item)
        for items in by_owner.values():
            items.sort(key=lambda item: item["due_at"])
        return {
            item["pk"]: datetime.fromisoformat(item["due_at"])
            for turn in zip_longest(*by_owner.values())
            for item in turn
            if item
        }

    def of_owner(self, organization_id: str) -> list[str]:
        """Return all open items of an owner, by reading the whole index."""
        return [
            item["pk"]
            for shard in range(self._shards)
            for item in self._table.items(
                f"open#{shard}", partition_name=OPEN_SHARD, index=self._index
            )
            if item["organization_id"] == organization_id
        ]

    def soonest_of(self, organization_id: str, *, limit: int) -> Soonest:
        """Return when open items of an owner are due, the soonest first.

        It reads a page of each shard: of items of all owners, so many as ``limit``.
        """
        pages: list[Page] = []
        where = Filter(
            "#owner = :owner", {"#owner": "organization_id"}, {":owner": organization_id}
        )

        def read(shard: int) -> None:
            pages.append(
                self._table.query(
                    f"open#{shard}",
                    partition_name=OPEN_SHARD,
                    index=self._index,
                    limit=limit,
                    where=where,
                )
            )

        in_parallel(read, range(self._shards), at_most=_CONCURRENT_READS)
        items = sorted((one["due_at"], one["pk"]) for page in pages for one in page.items)
        found = {pk: datetime.fromisoformat(due_at) for due_at, pk in items}
        return Soonest(
            found,
            is_complete=all(page.last_key is None for page in pages),
            read=sum(page.evaluated for page in pages),
        )

    def _due_in(self, shard: int, now: datetime) -> Iterator[Item]:
        return self._table.items(
            f"open#{shard}",
            partition_name=OPEN_SHARD,
            index=self._index,
            below=("due_at", moment(now)),
        )

    def move(
        self,
        pk: str,
        due_at: datetime | None,
        *,
        changes: Mapping[str, Any] | None = None,
        only_if: Mapping[str, Any] | None = None,
        remove: Sequence[str] = (),
        rising: str | None = None,
        only_earlier: bool = False,
    ) -> bool:
        """Set when an open item is due, with further changes; None leaves it due when it was.

        Args:
            only_earlier: leave an item alone that is due by then.
            remove: attributes that go.

        Returns:
            False where it is not open, an attribute of ``only_if`` differs, or ``rising``, one of
            the changes, is not above what is there: another came first.
        """
        changed = self._table.update(
            pk,
            self._sk,
            {**(changes or {}), **({"due_at": moment(due_at)} if due_at else {})},
            remove=remove,
            only_if=only_if,
            having=OPEN_SHARD,
            rising=rising,
            falling="due_at" if only_earlier else None,
        )
        return changed is not None

    def add(
        self, pk: str, numbers: Mapping[str, int], *, changes: Mapping[str, Any]
    ) -> Item | None:
        """Add to numbers of an open item; return it after that, or None where it is not open."""
        return self._table.update(pk, self._sk, changes, adding=numbers, having=OPEN_SHARD)

    def close(self, pk: str, *, only_if: Mapping[str, Any] | None = None) -> None:
        """Take an item off the index; closing it again changes nothing.

        Args:
            only_if: attributes with the values that they must have, None for none.
        """
        self._table.update(pk, self._sk, {}, remove=self.ATTRIBUTES, only_if=only_if)


def _shard_of(pk: str, shards: int) -> str:
    return f"open#{hashlib.sha256(pk.encode()).digest()[0] % shards}"
