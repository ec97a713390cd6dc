"""Where rows are stored: what becomes of one is decided by conditional writes alone.

A row's item stays below 1 KB, because it is written four times; its texts have items of their own.

Ceilings: a listing's partition is one organisation, status and shard, so ``LISTING_SHARDS`` times
500 rows a second, since each comes and goes; a queue's is one connection, model and shard of
``queue_places.SHARDS``.
"""

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Any

from autotune.protocol.ids import is_id
from autotune.protocol.llm_requests import LlmStatus
from autotune_platform.ledger.attempts import Attempt, Fault
from autotune_platform.ledger.models import Group, Row, as_stored
from autotune_platform.ledger.prices import PriceSnapshot
from autotune_platform.ledger.queue_places import (
    PLACE,
    QUEUES,
    RANKS,
    SHARDS,
    digit,
    partition,
    partition_aside,
    place,
    time_in,
)
from autotune_platform.storage.counting import Addition
from autotune_platform.storage.item_format import moment
from autotune_platform.storage.registry import entity_attributes, entity_from
from autotune_platform.storage.table import Item, Table

ROW = "state"

_BY_LISTING = "rowsByStatus"
LISTING_SHARDS = 4


class RowRepository:
    """Rows in the ``ledger`` table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def item(self, row: Row, *, queued_at: datetime | None) -> Item:
        """Return the item of a new row.

        Args:
            queued_at: since when it waits in its queue; None where it does not.
        """
        return {
            "pk": row.id,
            "sk": ROW,
            # What is empty, or in the key, is left out: an item of over 1 KB costs two units at
            # each write.
            **{
                name: one
                for name, one in entity_attributes(row).items()
                if name != "id" and one not in ({}, [])
            },
            "price": row.price.model_dump(mode="json", exclude_defaults=True),
            **_listing(row, row.status),
            **(place(row, queued_at) if queued_at else {}),
        }

    def put_all(self, items: Iterable[Item]) -> None:
        """Store items of rows that nobody can have stored before."""
        self._table.put_many(items)

    def put_new(self, item: Item) -> bool:
        """Store an item unless it is there; return False where it is."""
        return self._table.put_new(item)

    def get(self, row_id: str) -> Row | None:
        """Return a row of any organisation."""
        item = self._table.get(row_id, ROW) if is_id("llm", row_id) else None
        return _row(item) if item else None

    def get_many(self, row_ids: Iterable[str]) -> dict[str, Row]:
        """Return rows by id, without those that are not there."""
        found = self._table.get_many((row_id, ROW) for row_id in row_ids)
        return {pk: _row(item) for (pk, _), item in found.items()}

    def waiting(self, group: Group, *, now: datetime, limit: int) -> list[str]:
        """Return the first rows of a queue that may be asked by now, high priority first.

        It reads an index, which may miss what was stored in the last second.
        """
        shards = [self._in_shard(group, shard, now) for shard in range(SHARDS)]
        merged = heapq.merge(*shards, key=lambda item: item["queue_position"])
        return [item["pk"] for item in islice(merged, limit)]

    def first_times(self, group: Group) -> list[datetime]:
        """Return from when on the first row of each priority and shard may be asked."""
        times = []
        for shard in range(SHARDS):
            for rank in RANKS.values():
                found = self._table.query(
                    partition(group, shard),
                    partition_name="queue_shard",
                    index=QUEUES,
                    between=("queue_position", f"{rank}#", f"{rank}$"),
                    limit=1,
                )
                times += [time_in(item["queue_position"]) for item in found.items]
        return times

    def asked_from(self, row: Row) -> datetime | None:
        """Return from when on a queued row may be asked; None where it has no such place now."""
        item = self._table.get(row.id, ROW) or {}
        shard, position = (item.get(name, "") for name in PLACE)
        return time_in(position) if position and shard != partition_aside(row.group) else None

    def _in_shard(self, group: Group, shard: int, now: datetime) -> Iterator[Item]:
        for rank in RANKS.values():
            yield from self._table.items(
                partition(group, shard),
                partition_name="queue_shard",
                index=QUEUES,
                between=("queue_position", f"{rank}#", f"{rank}#{moment(now)}$"),
            )

    def claim(self, row: Row, batch_id: str, now: datetime) -> Row | None:
        """Take a queued row into a batch; return it, or None where another took or ended it."""
        return self._change(
            row,
            {"status": "submitted", "batch_id": batch_id, "updated_at": now},
            was={"status": "queued", "attempt": row.attempt},
            remove=PLACE,
        )

    def end(self, row: Row, changes: Mapping[str, Any], now: datetime) -> Row | None:
        """End a submitted row in this attempt: one write; return it, or None where it had ended.

        Args:
            row: as it was read; its status and attempt must still be those.
            changes: among them ``status``.
        """
        return self._change(
            row,
            {**changes, "updated_at": now},
            was={"status": row.status, "attempt": row.attempt},
            remove=(),
        )

    def ending_with(
        self, row: Row, changes: Mapping[str, Any], now: datetime
    ) -> tuple[Row, Addition]:
        """Return a row as it ends in this attempt, and what ends it, to be written with the rest.

        Args:
            row: as it was read; its status and attempt must still be those.
            changes: among them ``status``.
        """
        stored = as_stored({**changes, "updated_at": now, **_listing(row, changes["status"])})
        ended = Addition(
            table=self._table.name,
            pk=row.id,
            sk=ROW,
            changes=stored,
            only_if={"status": row.status, "attempt": row.attempt},
        )
        return Row.model_validate({**vars(row), **stored}), ended

    def ending(self, row: Row, status: LlmStatus, error: Fault, now: datetime) -> Addition:
        """Return what ends a queued row in this attempt, to be written together with its count."""
        changes = {"status": status, "error": error.model_dump(mode="json"), "updated_at": now}
        return Addition(
            table=self._table.name,
            pk=row.id,
            sk=ROW,
            changes=as_stored({**changes, **_listing(row, status)}),
            remove=PLACE,
            only_if={"status": row.status, "attempt": row.attempt},
        )

    def write_together(self, additions: Sequence[Addition]) -> bool:
        """Write additions in one transaction; False where a condition fails or others are there."""
        return self._table.add_together(additions)

    def requeue(
        self,
        row: Row,
        changes: Mapping[str, Any],
        over: Attempt | None,
        now: datetime,
        at: datetime,
    ) -> Row | None:
        """Put a submitted row back into its queue, unless it is not wanted any more.

        Args:
            over: the attempt that is over, which is paid or not; None where it was not tried.
            at: from when on it may be asked again.

        Returns:
            The row; None where it had ended, was put back by another, or is to be canceled.
        """
        attempts = [*row.attempts, over] if over else row.attempts
        next_one = row.model_copy(update={"attempt": row.attempt + (over is not None)})
        return self._change(
            row,
            {
                **changes,
                "status": "queued",
                "attempt": next_one.attempt,
                "attempts": [one.model_dump(mode="json", exclude_none=True) for one in attempts],
                "updated_at": now,
                **place(next_one, at),
            },
            # Another batch may have it by now, in the same attempt, and have sent it.
            was={
                "status": "submitted",
                "attempt": row.attempt,
                "batch_id": row.batch_id,
                "cancel_requested_at": None,
            },
            remove=("batch_id",),
        )

    def ask_singly(
        self, row: Row, *, price: PriceSnapshot, bound_nano_usd: int, now: datetime
    ) -> Row | None:
        """Move a queued row of a job to the queue of those that are asked one by one.

        Returns:
            The row, or None where another took or ended it.
        """
        moved = row.model_copy(update={"mode": "calls"})
        changes = {
            "mode": moved.mode,
            "price": price.model_dump(mode="json", exclude_defaults=True),
            "bound_nano_usd": bound_nano_usd,
            "updated_at": now,
            # It has waited long enough.
            **place(moved, row.created_at),
        }
        was = {"status": "queued", "attempt": row.attempt}
        return self._change(row, changes, was=was, remove=("together", "halved_of"))

    def request_cancel(self, row: Row, now: datetime) -> Row | None:
        """Note that a submitted row is not wanted any more; None where it is not submitted now."""
        changes = {"cancel_requested_at": now, "updated_at": now}
        item = self._table.update(row.id, ROW, as_stored(changes), only_if={"status": "submitted"})
        return _row(item) if item else None

    def note_reask(self, row: Row, changes: Mapping[str, str]) -> None:
        """Note what became of a row that cannot be read, once."""
        was = {"reask": row.reask, "reasked_as": None}
        self._table.update(row.id, ROW, changes, only_if=was, remove=("reask",))

    def listed(
        self,
        organization_id: str,
        status: LlmStatus,
        shard: int,
        *,
        lowest: str,
        below: str,
        at_a_time: int,
    ) -> Iterator[tuple[str, str]]:
        """Yield positions and ids of rows in one partition of their list, the youngest first.

        It reads an index, which may miss what was stored or moved in the last second.

        Args:
            lowest: the lowest position, included.
            below: the highest one, left out.
            at_a_time: how many are read with one query.
        """
        items = self._table.items(
            f"{organization_id}#{status}#{shard}",
            partition_name="list_shard",
            index=_BY_LISTING,
            newest_first=True,
            limit=at_a_time,
            between=("list_position", lowest, below),
        )
        return ((one["list_position"], one["pk"]) for one in items if one["list_position"] != below)

    def _change(
        self, row: Row, changes: Mapping[str, Any], *, was: Mapping[str, Any], remove: Sequence[str]
    ) -> Row | None:
        status = changes.get("status", row.status)
        stored = as_stored({**changes, **_listing(row, status)})
        item = self._table.update(row.id, ROW, stored, only_if=was, remove=remove)
        return _row(item) if item else None


def _row(item: Item) -> Row:
    return entity_from({**item, "id": item["pk"]}, Row)


def _listing(row: Row, status: LlmStatus) -> Item:
    shard = digit(row.id, LISTING_SHARDS)
    return {
        "list_shard": f"{row.organization_id}#{status}#{shard}",
        "list_position": f"{moment(row.created_at)}#{row.id}",
    }
