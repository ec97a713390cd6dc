"""How often a batch was halved whose job was refused without a word on which row was the reason.

A single bad row is found by halving. Where each row is refused alike, that would make a job for
every row and as many again. So the halvings of one batch are counted, those of its halves
included: some more than a single row takes to be found. What is refused after that is not halved
any more.
"""

from datetime import datetime, timedelta

from autotune_platform.ledger.models import Batch
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.retry import BUSY
from autotune_platform.storage.table import Table

SPARE_HALVINGS = 8
"""Halvings beyond what one bad row takes: several are found, or come down to a few beside them."""

_SK = "halvings"
# Longer than any of its halves may be under way.
_KEPT = timedelta(days=90)
_ATTEMPTS = 8


def most_halvings(rows: int) -> int:
    """Return how often a batch of so many rows is halved, its halves included."""
    return (rows - 1).bit_length() + SPARE_HALVINGS


def most_jobs(rows: int) -> int:
    """Return how many jobs come of a batch of so many rows that is halved: each time two."""
    return 1 + 2 * most_halvings(rows)


class HalvingRepository:
    """Counts of halvings, in the ``ledger`` table: an item for each batch that was halved first."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def add(self, batch: Batch, *, of: str, rows: int, now: datetime) -> bool:
        """Count that a batch is halved, once; False where none may be halved any more.

        Args:
            of: the batch that was halved first, to which its rows belonged.
            rows: how many this one has.

        Raises:
            UnavailableError: others kept counting halvings of the same batch.
        """
        pk = f"halved#{of}"
        for _ in BUSY.attempts(_ATTEMPTS):
            item = self._table.get(pk, _SK)
            known = item["batches"] if item else []
            if batch.id in known:
                return True  # by a step that was killed before it put all rows back
            most = item["most"] if item else most_halvings(rows)
            if len(known) >= most:
                return False
            written = {"batches": [*known, batch.id], "number": len(known) + 1}
            if item is None:
                first = {
                    "pk": pk,
                    "sk": _SK,
                    "organization_id": batch.organization_id,
                    "most": most,
                    "expires_at": int((now + _KEPT).timestamp()),
                }
                is_written = self._table.put_new({**first, **written})
            else:
                was = {"number": item["number"]}
                is_written = self._table.update(pk, _SK, written, only_if=was) is not None
            if is_written:
                return True
        raise UnavailableError("the table is busy", retry_after_seconds=1)
