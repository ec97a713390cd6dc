"""Receipts of captured calls: a call that is handed over twice is taken in once."""

import hashlib
from datetime import datetime, timedelta

from autotune_platform.decks.items import item_of, model_from
from autotune_platform.decks.telemetry.models import Receipt
from autotune_platform.storage.table import Item, Table

REMEMBERED = timedelta(days=7)
"""For how long at least a call is known again, from when it was taken in."""

_RECEIPT = "receipt"


class Receipts:
    """Receipts in the ``decks`` table, each in a partition of its own."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def read(self, organization_id: str, source_id: str) -> Receipt | None:
        """Return what was decided of a call; None where nothing was."""
        item = self._table.get(call_partition(organization_id, source_id), _RECEIPT)
        return None if item is None else model_from(item, Receipt)

    def write(self, receipt: Receipt, source_id: str, now: datetime) -> Receipt:
        """Store what was decided of a call; return it, or what was decided before."""
        item = receipt_item(receipt, source_id, now)
        if self._table.put_new(item):
            return receipt
        return self.read(receipt.organization_id, source_id) or receipt

    def finish(self, receipt: Receipt, source_id: str) -> Receipt:
        """Note that all of a call is stored, and what became of it; again is fine."""
        done = receipt.model_copy(update={"done": True})
        gone = [name for name in ("sample_id", "fault") if getattr(done, name) is None]
        changes = {"done": True} | ({} if done.fault is None else {"fault": done.fault})
        partition = call_partition(receipt.organization_id, source_id)
        self._table.update(partition, _RECEIPT, changes, remove=gone)
        return done


def receipt_item(receipt: Receipt, source_id: str, now: datetime) -> Item:
    """Return the item that stores what was decided of a call."""
    item = item_of(receipt, pk=call_partition(receipt.organization_id, source_id), sk=_RECEIPT)
    return {**item, "expires_at": int((now + REMEMBERED).timestamp())}


def call_partition(organization_id: str, source_id: str) -> str:
    """Return the partition of a call of an organisation, or of a request with calls."""
    digest = hashlib.sha256(source_id.encode(errors="surrogatepass")).hexdigest()
    return f"{organization_id}#call#{digest}"
