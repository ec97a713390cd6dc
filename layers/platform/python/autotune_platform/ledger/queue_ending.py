"""Ending rows in their queues: those that are late, whatever their queue waits for, and all of one.

A row with a ``completeBy`` has a second item, which an index finds by that time. So a look at a
queue, paused or without money too, reads what is late and nothing else.
"""

from collections.abc import Sequence
from datetime import timedelta

from autotune_platform.ledger.models import Group, Row
from autotune_platform.ledger.queue_places import PLACE, QUEUES, SHARDS, digit
from autotune_platform.ledger.queued_ends import QueuedEnd, QueuedEnds
from autotune_platform.ledger.row_repository import RowRepository
from autotune_platform.ledger.rows_aside import RowsAside
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.threads import in_parallel
from autotune_platform.storage.item_format import moment
from autotune_platform.storage.table import Item, Table

_DEADLINE = "deadline"
_LATE_AT_ONCE = 250
_ROWS_ENDED = 500
_WRITERS = 8
_EVER = timedelta(days=3_650)
# By then its row has ended, or was ended.
_KEPT = timedelta(days=30)


def deadline_items(row: Row) -> Sequence[Item]:
    """Return what has a row found when it is late; nothing where it never is."""
    if row.complete_by is None:
        return []
    item: Item = {
        "pk": row.id,
        "sk": _DEADLINE,
        "organization_id": row.organization_id,
        "queue_shard": _partition(row.connection_id, digit(row.id, SHARDS)),
        "queue_position": f"{moment(row.complete_by)}#{row.id}",
        "expires_at": int((row.complete_by + _KEPT).timestamp()),
    }
    return [item]


@part
class QueueEnding:
    """Ends rows that wait in queues."""

    table: Table
    rows: RowRepository
    aside: RowsAside
    ends: QueuedEnds
    clock: Clock = SYSTEM_CLOCK

    def end_late(self, connection_id: str) -> bool:
        """End rows of a connection that are late, as many as one look may.

        One that is in a batch is left to it, which ends it or has it answered late.

        Returns:
            Whether there may be more.
        """
        now = self.clock.now()
        late: list[str] = []
        is_more = False
        for shard in range(SHARDS):
            page = self.table.query(
                _partition(connection_id, shard),
                partition_name="queue_shard",
                index=QUEUES,
                between=("queue_position", "0", f"{moment(now)}$"),
                limit=_LATE_AT_ONCE,
            )
            late += [item["pk"] for item in page.items]
            is_more = is_more or len(page.items) == _LATE_AT_ONCE
        if not late:
            return False
        found = self.rows.get_many(late).values()
        self.ends.end_all(QueuedEnd(row, "expired") for row in found if row.status == "queued")

        def forget(row_id: str) -> None:
            self.table.update(row_id, _DEADLINE, {}, remove=PLACE)

        in_parallel(forget, late, at_most=_WRITERS)
        return is_more

    def end_all(self, group: Group) -> None:
        """End the rows of a connection that is gone, those that back off and dear ones too."""
        now = self.clock.now()
        while ids := (
            self.rows.waiting(group, now=now + _EVER, limit=_ROWS_ENDED)
            or self.aside.first(group, limit=_ROWS_ENDED)
        ):
            rows = [row for row in self.rows.get_many(ids).values() if row.status == "queued"]
            if not rows:
                return
            self.ends.end_all(QueuedEnd(row, "account") for row in rows)


def _partition(connection_id: str, shard: int) -> str:
    return f"{connection_id}#deadlines#{shard}"
