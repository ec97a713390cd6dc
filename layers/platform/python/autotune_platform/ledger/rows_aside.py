"""Rows that cost more than their organisation lets any cost: set aside, so that others go.

A limit of the budget says what a period may cost, and no row can cost more than that. Such a row is
refused when it is enqueued; what waits when a limit is lowered stays, and comes back to its place
once there is room for it.
"""

from collections.abc import Callable, Iterable, Sequence

from aws_lambda_powertools import Logger

from autotune_platform.budgets.money import MoneyBudgets
from autotune_platform.ledger.models import Group, Row
from autotune_platform.ledger.queue_places import (
    QUEUES,
    costs_at_most,
    partition_aside,
    place,
    place_aside,
)
from autotune_platform.ledger.row_repository import ROW, RowRepository
from autotune_platform.runtime.grouping import groups
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.threads import in_parallel
from autotune_platform.storage.table import Item, Table

logger = Logger()

_BACK_AT_ONCE = 500
_ROWS_READ = 1_000
_WRITERS = 8


@part
class RowsAside:
    """Sets rows aside, and brings them back."""

    table: Table
    rows: RowRepository
    money: MoneyBudgets

    def without_dear(self, group: Group, ids: Sequence[str]) -> list[str]:
        """Set those of a queue's rows aside that are dearer than a whole period; return the others.

        Raises:
            UnavailableError: the table is busy.
        """
        lowest = self.money.lowest(group.organization_id)
        if lowest is None:
            return list(ids)
        kept: list[str] = []
        for some in groups(ids, _ROWS_READ):
            found = self.rows.get_many(some).values()
            dear = {row.id: row for row in found if row.bound_nano_usd > lowest.limit}
            self._move(dear.values(), place_aside)
            kept += [row_id for row_id in some if row_id not in dear]
        if len(kept) < len(ids):
            logger.warning("dearer than the budget", group=group.key, rows=len(ids) - len(kept))
            self.money.refused(group.organization_id)
        return kept

    def bring_back(self, group: Group) -> None:
        """Put those back to where they were that no limit is below now, as many as a look may."""
        if not self.first(group):
            return
        lowest = self.money.lowest(group.organization_id)
        most = None if lowest is None else lowest.limit
        ids = self.first(group, limit=_BACK_AT_ONCE, most_nano_usd=most)
        found = self.rows.get_many(ids).values()
        self._move(found, lambda row: place(row, row.created_at))

    def first(self, group: Group, *, limit: int = 1, most_nano_usd: int | None = None) -> list[str]:
        """Return the cheapest of a queue's rows that are set aside; none where none is."""
        page = self.table.query(
            partition_aside(group),
            partition_name="queue_shard",
            index=QUEUES,
            between=("queue_position", *costs_at_most(most_nano_usd)),
            limit=limit,
        )
        return [item["pk"] for item in page.items]

    def _move(self, rows: Iterable[Row], to: Callable[[Row], Item]) -> None:
        """Have rows wait elsewhere that are still queued."""

        def move(row: Row) -> None:
            was = {"status": "queued", "attempt": row.attempt}
            self.table.update(row.id, ROW, to(row), only_if=was)

        queued = [row for row in rows if row.status == "queued"]
        if queued:
            in_parallel(move, queued, at_most=_WRITERS)
