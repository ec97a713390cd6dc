"""Where batches are stored, with the lists of their rows.

Batches and queues are open until nothing is left to do for them: one index has when somebody is to
look at each (``DueIndex``).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import Any

from aws_lambda_powertools import Logger

from autotune.protocol.ids import is_id
from autotune_platform.ledger.models import Batch, as_stored
from autotune_platform.ledger.phases import entering
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.grouping import groups
from autotune_platform.runtime.retry import BUSY
from autotune_platform.storage.counting import Addition
from autotune_platform.storage.cursors import decode_cursor, encode_cursor
from autotune_platform.storage.due_index import DueIndex
from autotune_platform.storage.item_format import moment
from autotune_platform.storage.registry import entity_attributes, entity_from
from autotune_platform.storage.table import Item, Table
from autotune_platform.webhooks.models import Event
from autotune_platform.webhooks.outbox import outbox_addition, outbox_item

logger = Logger()

STATE = "state"
PAGE_ROWS = 1_000

_DUE = "dueBatches"
_BY_LISTING = "rowsByStatus"
DUE_SHARDS = 8
_PAGE, _BEHIND_PAGES = "rows#", "rows#~"
_ATTEMPTS = 8
_SETTLED, _UNSETTLED = {"settled": True}, {"settled": None}


def due_index(table: Table) -> DueIndex:
    """Return the index of what somebody is to look at: batches, queues, and calls under way."""
    return DueIndex(table, sk=STATE, index=_DUE, shards=DUE_SHARDS)


class BatchRepository:
    """Batches in the ``ledger`` table."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._due = due_index(table)

    def opening(self, batch: Batch, *, due_at: datetime) -> Addition:
        """Return what stores a new batch, to be written together with its reservation."""
        listing = {
            "list_shard": f"{batch.organization_id}#batches",
            "list_position": f"{moment(batch.created_at)}#{batch.id}",
        }
        attributes = entity_attributes(batch)
        return Addition(
            table=self._table.name,
            pk=batch.id,
            sk=STATE,
            changes={**attributes, **listing, **self._due.opened(batch.id, due_at)},
            only_if={"phase": None},
        )

    def put_rows(self, batch_id: str, row_ids: Sequence[str]) -> None:
        """Store which rows a batch may have, before any of them is taken."""
        self._table.put_many(
            {"pk": batch_id, "sk": f"{_PAGE}{number:05}", "row_ids": list(some)}
            for number, some in enumerate(groups(row_ids, PAGE_ROWS))
        )

    def row_ids(self, batch: Batch, *, behind: int = 0) -> Iterator[str]:
        """Yield the rows that a batch was made for, in order; not all of them became its own.

        Args:
            behind: how many of them are left out.
        """
        page, first = divmod(behind, PAGE_ROWS)
        pages = self._table.items(batch.id, between=("sk", f"{_PAGE}{page:05}", _BEHIND_PAGES))
        # An attempt at making it of more rows, which failed, may have left pages behind these.
        last = max(first, batch.rows - page * PAGE_ROWS)
        return islice((row_id for one in pages for row_id in one["row_ids"]), first, last)

    def get(self, batch_id: str) -> Batch | None:
        """Return a batch of any organisation."""
        item = self._table.get(batch_id, STATE) if is_id("lbt", batch_id) else None
        return entity_from(item, Batch) if item else None

    def is_settled(self, batch_id: str) -> bool:
        """Return whether nothing more becomes of a batch, which may be gone."""
        batch = self.get(batch_id)
        return batch is None or batch.phase == "settled"

    def change(
        self, batch: Batch, changes: Mapping[str, Any], *, due_at: datetime | None = None
    ) -> bool:
        """Change an open batch; False where it is settled or another step or redrive has it."""
        was = {
            "phase": batch.phase,
            "redrive": batch.redrive,
            "worked_until": entity_attributes(batch).get("worked_until"),
        }
        gone = [name for name, value in changes.items() if value is None]
        kept = as_stored({name: value for name, value in changes.items() if value is not None})
        return self._due.move(batch.id, due_at, changes=kept, remove=gone, only_if=was)

    def counted(self, batch: Batch) -> Addition:
        """Return the note that a batch's job is counted, to be written together with the count."""
        return Addition(
            table=self._table.name,
            pk=batch.id,
            sk=STATE,
            changes={"counted_tokens": batch.input_tokens},
            only_if={"phase": batch.phase, "redrive": batch.redrive, "counted_tokens": None},
        )

    def settling(self, batch: Batch, changes: Mapping[str, Any]) -> Addition:
        """Return what settles a batch, to be written together with the return of its money."""
        return Addition(
            table=self._table.name,
            pk=batch.id,
            sk=STATE,
            changes={**as_stored(changes), **entering(batch, "settled")},
            only_if={"phase": batch.phase},
        )

    def publishing(self, batch_id: str, event: Event) -> Addition:
        """Return what publishes an event of a batch, to be written with what happened to it."""
        return outbox_addition(event, table=self._table.name, pk=batch_id)

    def publish_once(self, batch_id: str, event: Event) -> None:
        """Publish an event of a batch that comes with no change of it; again, it is the same."""
        self._table.put_new(outbox_item(event, pk=batch_id))

    def opening_row(self, item: Item, *, due_at: datetime) -> Addition:
        """Return what stores a row that is asked at once, to be looked after if that is lost."""
        kept = {name: value for name, value in item.items() if name not in ("pk", "sk")}
        return Addition(
            table=self._table.name,
            pk=item["pk"],
            sk=STATE,
            changes={**kept, **self._due.opened(item["pk"], due_at)},
            only_if={"status": None},
        )

    def settling_row(self, row_id: str) -> Addition:
        """Return the note that such a row's money is settled, to be made once; nobody looks again.

        The row has ended.
        """
        return Addition(
            table=self._table.name,
            pk=row_id,
            sk=STATE,
            changes=_SETTLED,
            remove=self._due.ATTRIBUTES,
            only_if=_UNSETTLED,
        )

    def settling_with(self, ended: Addition) -> Addition:
        """Return what ends such a row, as the same addition does, and settles its money."""
        return replace(
            ended,
            changes={**ended.changes, **_SETTLED},
            remove=[*ended.remove, *self._due.ATTRIBUTES],
            only_if={**ended.only_if, **_UNSETTLED},
        )

    def try_write(self, additions: Sequence[Addition]) -> bool:
        """Write additions in one transaction; False where a condition fails or others are there."""
        return self._table.add_together(additions)

    def holds(self, addition: Addition) -> bool:
        """Return whether the condition of an addition, to whatever table, holds now."""
        item = self._table.beside(addition.table).get(addition.pk, addition.sk) or {}
        return all(item.get(name) == value for name, value in addition.only_if.items())

    def write(
        self,
        additions: Sequence[Addition],
        *,
        undone: Addition,
        if_it_holds: Sequence[Addition] = (),
    ) -> bool:
        """Write additions in one transaction, again while others are at the same items.

        Args:
            undone: the one whose condition says whether it is still to be done.
            if_it_holds: written with the others, unless a condition among them does not hold.

        Returns:
            False where that condition does not hold: it was done before.

        Raises:
            UnavailableError: others kept writing the same items, or another condition fails.
        """
        with_it = list(if_it_holds)
        for _ in BUSY.attempts(_ATTEMPTS):
            if self._table.add_together([*additions, *with_it]):
                return True
            if not self.holds(undone):
                return False
            if not all(self.holds(one) for one in with_it):
                logger.warning("an end is not known to what it is of", key=undone.pk)
                with_it = []
        raise UnavailableError("the table is busy", retry_after_seconds=1)

    def request_cancel(self, batch: Batch, now: datetime) -> bool:
        """Note that an open batch is not wanted any more; False where it is settled."""
        return self._due.move(batch.id, None, changes=as_stored({"cancel_requested_at": now}))

    def close(self, pk: str) -> None:
        """Have nobody look at a batch, or a call, any more."""
        self._due.close(pk)

    def page(
        self, organization_id: str, *, limit: int, next_token: str | None
    ) -> tuple[list[Batch], str | None]:
        """Return a page of an organisation's batches, the youngest first.

        Raises:
            InvalidRequestError: ``next_token`` is not from this list.
        """
        below = decode_cursor(next_token, parts=1)[0] if next_token is not None else None
        page = self._table.query(
            f"{organization_id}#batches",
            partition_name="list_shard",
            index=_BY_LISTING,
            newest_first=True,
            limit=limit,
            below=("list_position", below) if below else None,
        )
        found = self._table.get_many((item["pk"], STATE) for item in page.items)
        keys = [(item["pk"], STATE) for item in page.items]
        token = encode_cursor(page.items[-1]["list_position"]) if page.last_key else None
        return [entity_from(found[key], Batch) for key in keys if key in found], token

    def listed(
        self, organization_id: str, *, lowest: str, below: str, at_a_time: int
    ) -> Iterator[tuple[str, str]]:
        """Yield positions and ids of an organisation's batches, the youngest first.

        Args:
            lowest: the lowest position, included.
            below: the highest one, left out.
            at_a_time: how many are read with one query.
        """
        items = self._table.items(
            f"{organization_id}#batches",
            partition_name="list_shard",
            index=_BY_LISTING,
            newest_first=True,
            limit=at_a_time,
            between=("list_position", lowest, below),
        )
        return ((one["list_position"], one["pk"]) for one in items if one["list_position"] != below)

    def get_many(self, batch_ids: Iterable[str]) -> Mapping[str, Batch]:
        """Return batches by id, without those that are gone."""
        found = self._table.get_many((batch_id, STATE) for batch_id in batch_ids)
        return {pk: entity_from(item, Batch) for (pk, _), item in found.items()}

    def due(self, now: datetime, *, limit: int) -> list[str]:
        """Return what is due, by key: of each organisation one in turn."""
        return list(self._due.due(now, limit=limit))
