"""Which queues have rows that wait, when somebody is to look at each, and which batch has it.

A queue is open, and in the index of what is due, until it was found empty.
"""

from datetime import datetime, timedelta
from typing import NamedTuple

from autotune.protocol.ids import new_id
from autotune_platform.ledger.batch_repository import STATE, due_index
from autotune_platform.ledger.models import Batch, Group
from autotune_platform.storage.item_format import moment
from autotune_platform.storage.registry import entity_from
from autotune_platform.storage.table import Table

_HOLDER, _HELD_UNTIL = "held_by", "held_until"
# Of a queue: rows since it was looked at, until when more of them change nothing, and how often in
# a row it found no money.
_ROWS, _NOT_BEFORE, _REFUSALS = "rows", "not_before", "refusals"
# Executions read a queue two seconds after they are started, and an index a moment late.
_START_READS_AFTER = timedelta(seconds=1)


class Held(NamedTuple):
    """A queue that a batch has for itself.

    Attributes:
        touched: names the last time that rows came.
        refusals: how often in a row there was no money for it.
    """

    group: Group
    touched: str
    refusals: int


class QueueRepository:
    """Queues in the ``ledger`` table."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._due = due_index(table)

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

    def open(self, group: Group, due_at: datetime) -> None:
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

    def get(self, key: str) -> Group | None:
        """Return a queue, open or not; None where there never was one."""
        item = self._table.get(key, STATE)
        return entity_from(item, Group) if item else None

    def hold(
        self, key: str, batch_id: str, *, now: datetime, until: datetime, due_at: datetime
    ) -> Held | None:
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

    def holder(self, group: Group, now: datetime) -> str | None:
        """Return the batch that has a queue for itself at present."""
        item = self._table.get(group.key, STATE)
        if item is None or item.get(_HELD_UNTIL, "") <= moment(now):
            return None
        return item.get(_HOLDER)

    def hold_on(self, batch: Batch, until: datetime) -> None:
        """Have a queue for longer that a batch has."""
        longer = {_HELD_UNTIL: moment(until)}
        self._table.update(batch.group.key, STATE, longer, only_if={_HOLDER: batch.id})

    def let_go(self, key: str, batch_id: str, *, is_paid: bool = False) -> None:
        """Have a queue free again that a batch has; one that was paid for found money."""
        gone = [_HOLDER, _HELD_UNTIL, *([_REFUSALS] if is_paid else [])]
        self._table.update(key, STATE, {}, remove=gone, only_if={_HOLDER: batch_id})

    def postpone(self, key: str, due_at: datetime, *, touched: str | None = None) -> None:
        """Have an open queue looked at then, unless it was touched since."""
        self._due.move(key, due_at, only_if={"touched": touched} if touched else None)

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

    def close(self, key: str, *, touched: str) -> None:
        """Have nobody look at a queue any more, unless it was touched since."""
        self._due.close(key, only_if={"touched": touched})
