"""Where batches are stored, with the lists of their rows, and which queues have rows that wait.

Batches and queues are open until nothing is left to do for them: one index has when somebody is to
look at each (``DueIndex``).
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, NamedTuple

from autotune.protocol.ids import is_id, new_id
from autotune_platform.ledger.models import Batch, Group, as_stored
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
from autotune_platform.webhooks.outbox import outbox_addition

STATE = "state"
PAGE_ROWS = 1_000

_DUE = "dueBatches"
_BY_LISTING = "rowsByStatus"
DUE_SHARDS = 8
_PAGE = "rows#"
_HOLDER, _HELD_UNTIL = "held_by", "held_until"
# Of a queue: rows since it was looked at, until when more of them change nothing, and how often in
# a row it found no money.
_ROWS, _NOT_BEFORE, _REFUSALS = "rows", "not_before", "refusals"
# Executions read a queue two seconds after they are started, and an index a moment late.
_START_READS_AFTER = timedelta(seconds=1)
_ATTEMPTS = 8


class Held(NamedTuple):
    """A queue that a batch has for itself.

    Attributes:
        touched: names the last time that rows came.
        refusals: how often in a row there was no money for it.
    """

    group: Group
    touched: str
    refusals: int


class BatchRepository:
    """Batches and queues in the ``ledger`` table."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._due = DueIndex(table, sk=STATE, index=_DUE, shards=DUE_SHARDS)

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

    def row_ids(self, batch: Batch) -> Iterator[str]:
        """Yield the rows that a batch was made for, in order; not all of them became its own."""
        pages = self._table.items(batch.id, starting=_PAGE)
        # An attempt at making it of more rows, which failed, may have left pages behind these.
        return islice((row_id for page in pages for row_id in page["row_ids"]), batch.rows)

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
            changes={**as_stored(changes), "phase": "settled"},
            only_if={"phase": batch.phase},
        )

    def publishing(self, batch_id: str, event: Event) -> Addition:
        """Return what publishes an event of a batch, to be written with what happened to it."""
        return outbox_addition(event, table=self._table.name, pk=batch_id)

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
        """Return the note that such a row's money is settled, to be made once."""
        return Addition(
            table=self._table.name,
            pk=row_id,
            sk=STATE,
            changes={"settled": True},
            only_if={"settled": None},
        )

    def try_write(self, additions: Sequence[Addition]) -> bool:
        """Write additions in one transaction; False where a condition fails or others are there."""
        return self._table.add_together(additions)

    def write(self, additions: Sequence[Addition], *, undone: Addition) -> bool:
        """Write additions in one transaction, again while others are at the same items.

        Args:
            undone: the one whose condition says whether it is still to be done.

        Returns:
            False where that condition does not hold: it was done before.

        Raises:
            UnavailableError: others kept writing the same items, or another condition fails.
        """
        for _ in BUSY.attempts(_ATTEMPTS):
            if self._table.add_together(additions):
                return True
            item = self._table.get(undone.pk, undone.sk) or {}
            if any(item.get(name) != value for name, value in undone.only_if.items()):
                return False
        raise UnavailableError("the table is busy", retry_after_seconds=1)

    def request_cancel(self, batch: Batch, now: datetime) -> bool:
        """Note that an open batch is not wanted any more; False where it is settled."""
        return self._due.move(batch.id, None, changes=as_stored({"cancel_requested_at": now}))

    def close(self, pk: str, *, only_if: Mapping[str, Any] | None = None) -> None:
        """Have nobody look at a batch or a queue any more."""
        self._due.close(pk, only_if=only_if)

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

    def enqueued(
        self, group: Group, *, rows: int, enough: int, ready_at: datetime, now: datetime
    ) -> bool:
        """Have a queue looked at that so many rows were just stored in.

        Args:
            enough: as many since it was looked at have it looked at at once.
            ready_at: when it is looked at at the latest.

        Returns:
            Whether that is due at once, and was not before, or so long that whatever began then may
            not have seen these rows.
        """
        touched = {"touched": new_id("req")}
        item = self._due.add(group.key, {_ROWS: rows}, changes=touched)
        count = rows if item is None else item[_ROWS]
        due_at = min(ready_at, now) if count >= enough else ready_at
        if item is None:
            opened = {**touched, **self._due.opened(group.key, due_at), _ROWS: rows}
            self._table.put({"pk": group.key, "sk": STATE, **group.model_dump(), **opened})
            return due_at <= now
        if item.get(_NOT_BEFORE, "") > moment(max(due_at, now)):
            return False
        known = item["due_at"]
        is_stale = due_at <= now and known < moment(now - _START_READS_AFTER)
        if known <= moment(max(due_at, now)) and not is_stale:
            return False
        # Of those that come at the same moment one moves it.
        moved = self._due.move(group.key, max(due_at, now), only_if={"due_at": known})
        return moved and due_at <= now

    def open_group(self, group: Group, due_at: datetime) -> None:
        """Have a queue looked at by then at the latest; call it once its rows are stored."""
        # Whoever closes it because it looked empty sees that it was touched since.
        touched = {"touched": new_id("req")}
        pk = group.key
        if self._due.move(pk, due_at, changes=touched, only_earlier=True):
            return
        if self._due.move(pk, None, changes=touched):
            return
        self._table.put(
            {"pk": pk, "sk": STATE, **group.model_dump(), **touched, **self._due.opened(pk, due_at)}
        )

    def group(self, key: str) -> Group | None:
        """Return a queue, open or not; None where there never was one."""
        item = self._table.get(key, STATE)
        return entity_from(item, Group) if item else None

    def hold_group(
        self, key: str, batch_id: str, *, now: datetime, until: datetime, due_at: datetime
    ) -> "Held | None":
        """Have an open queue for a batch alone; None where another has it, or it is not open.

        Args:
            until: when it is free again, unless it is let go before.
            due_at: when it is looked at again.

        Returns:
            The queue as it is then.
        """
        item = self._table.get(key, STATE)
        if item is None:
            return None
        if _HOLDER in item and item[_HELD_UNTIL] > moment(now):
            return None
        mine = {_HOLDER: batch_id, _HELD_UNTIL: moment(until)}
        was = {_HOLDER: item.get(_HOLDER), _HELD_UNTIL: item.get(_HELD_UNTIL)}
        changes = {**mine, _ROWS: 0}
        if not self._due.move(key, due_at, changes=changes, only_if=was, remove=[_NOT_BEFORE]):
            return None
        return Held(entity_from(item, Group), item["touched"], item.get(_REFUSALS, 0))

    def hold_group_on(self, batch: Batch, until: datetime) -> None:
        """Have a queue for longer that a batch has."""
        longer = {_HELD_UNTIL: moment(until)}
        self._table.update(batch.group.key, STATE, longer, only_if={_HOLDER: batch.id})

    def let_group_go(self, key: str, batch_id: str, *, is_paid: bool = False) -> None:
        """Have a queue free again that a batch has; one that was paid for found money."""
        gone = [_HOLDER, _HELD_UNTIL, *([_REFUSALS] if is_paid else [])]
        self._table.update(key, STATE, {}, remove=gone, only_if={_HOLDER: batch_id})

    def postpone(self, pk: str, due_at: datetime, *, touched: str | None = None) -> None:
        """Have an open batch or queue looked at then, unless it was touched since."""
        self._due.move(pk, due_at, only_if={"touched": touched} if touched else None)

    def await_more(self, key: str, due_at: datetime, *, rows: int, touched: str) -> None:
        """Have a queue looked at then that has too few rows, unless it was touched since."""
        self._due.move(key, due_at, changes={_ROWS: rows}, only_if={"touched": touched})

    def defer(self, key: str, until: datetime, *, refusals: int | None = None) -> None:
        """Have a queue looked at then and no sooner, whatever is enqueued.

        Args:
            refusals: how often in a row there was no money for it, where that is why.
        """
        counted = {} if refusals is None else {_REFUSALS: refusals}
        self._due.move(key, until, changes={_NOT_BEFORE: moment(until), **counted})

    def due(self, now: datetime, *, limit: int) -> list[str]:
        """Return what is due, by key: of each organisation one in turn."""
        return list(self._due.due(now, limit=limit))
