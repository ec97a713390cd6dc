"""How many batches of single calls a queue has open at once: as many as can be asked at once.

More would only wait for slots, with their money set aside, and look for one again and again. The
count is written in the transactions that open and settle a batch, so that it is exact.
"""

from collections.abc import Sequence
from typing import NamedTuple

from autotune_platform.budgets.slots import lanes_of
from autotune_platform.ledger.models import Batch, Connection, Group
from autotune_platform.storage.counting import Addition
from autotune_platform.storage.table import Table

_OPEN = "openCalls"


class OpenCount(NamedTuple):
    """Open batches of a queue; ``is_waiting`` while rows wait for one of them to end."""

    batches: int
    is_waiting: bool


def most_open(connection: Connection) -> int:
    """Return how many batches of single calls of each queue of a connection are open at most."""
    return lanes_of(connection.concurrency)


class OpenCalls:
    """Counts of open batches in the ``ledger`` table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def of(self, group: Group) -> OpenCount:
        """Return the count of a queue."""
        item = self._table.get(_place(group), _OPEN) or {}
        return OpenCount(int(item.get("batches", 0)), bool(item.get("is_waiting")))

    def opening(
        self, batch: Batch, connection: Connection, *, is_waiting: bool
    ) -> Sequence[Addition]:
        """Return what counts a new batch, on condition that it is not one too many."""
        if not batch.is_counted:
            return []
        counted = Addition(
            table=self._table.name,
            pk=_place(batch.group),
            sk=_OPEN,
            numbers={"batches": 1},
            at_most={"batches": most_open(connection) - 1},
            changes={"is_waiting": is_waiting},
        )
        return [counted]

    def closing(self, batch: Batch) -> Sequence[Addition]:
        """Return what takes a batch off the count that is settled."""
        if not batch.is_counted:
            return []
        pk = _place(batch.group)
        return [Addition(table=self._table.name, pk=pk, sk=_OPEN, numbers={"batches": -1})]

    def await_end(self, group: Group) -> None:
        """Note that rows wait for a batch to end, which has the next one made then."""
        self._table.update(_place(group), _OPEN, {"is_waiting": True})


def _place(group: Group) -> str:
    return f"calls#{group.connection_id}#{group.model}"
