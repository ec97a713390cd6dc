"""The rows of a batch that still have no end in it."""

import heapq
from collections.abc import Callable, Iterable, Iterator, Set
from datetime import datetime

from autotune.protocol.llm_requests import LlmErrorCode
from autotune_platform.ledger.batch_repository import PAGE_ROWS, BatchRepository
from autotune_platform.ledger.calls import Refusal
from autotune_platform.ledger.ending import RowEnds
from autotune_platform.ledger.models import Batch, Row
from autotune_platform.ledger.row_repository import RowRepository
from autotune_platform.runtime.grouping import groups
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.threads import in_parallel

_ROWS_READ = 100
_SPARE_SECONDS = 20
_WRITERS = 8

STEP_LOST = Refusal("outcome_unclear", "the step that may have asked it was lost", may_be_paid=True)
"""What is said of rows that are charged because a step was killed while it may have asked them."""


def portions(rows: Iterable[Row], *, most_bytes: int) -> Iterator[list[Row]]:
    """Yield rows in order, as many at a time as ask no more than so many bytes; one at least."""
    some: list[Row] = []
    left = most_bytes
    for row in rows:
        left -= row.input_bytes
        if some and left < 0:
            yield some
            some, left = [], most_bytes - row.input_bytes
        some.append(row)
    if some:
        yield some


@part
class BatchRows:
    """Reads a batch's rows, and ends or puts back all of them at once."""

    rows: RowRepository
    batches: BatchRepository
    ends: RowEnds

    def all(self, batch: Batch) -> Iterator[Row]:
        """Yield rows that a batch was made for, each as it is when it is read."""
        for ids in groups(self.batches.row_ids(batch), min(_ROWS_READ, PAGE_ROWS)):
            found = self.rows.get_many(ids)
            yield from (found[row_id] for row_id in ids if row_id in found)

    def pending(self, batch: Batch) -> Iterator[Row]:
        """Yield rows of a batch without an end in it."""
        return (row for row in self.all(batch) if row.is_pending_in(batch.id))

    def reasks_due(self, batch: Batch) -> list[Row]:
        """Return those that are to be asked again before a batch is settled."""
        return [row for row in self.all(batch) if row.is_reask_due_in(batch.id)]

    def let_go(self, batch: Batch) -> Iterator[Row]:
        """Put back those without an end, and yield all rows as they are then, each read once."""
        for ids in groups(self.batches.row_ids(batch), min(_ROWS_READ, PAGE_ROWS)):
            found = self.rows.get_many(ids)

            def put_back(row: Row, found: dict[str, Row] = found) -> None:
                after = self.ends.put_back(row) or self.rows.get(row.id)
                found[row.id] = after or row

            pending = [row for row in found.values() if row.is_pending_in(batch.id)]
            in_parallel(put_back, pending, at_most=_WRITERS)
            yield from (found[row_id] for row_id in ids if row_id in found)

    def put_back(self, batch: Batch, *, wait_seconds: float = 0) -> int:
        """Put all of them back, none of which was tried; return how many that were."""
        count = 0
        for some in groups(self.pending(batch), _ROWS_READ):

            def put_back(row: Row) -> None:
                self.ends.put_back(row, wait_seconds=wait_seconds)

            in_parallel(put_back, some, at_most=_WRITERS)
            count += len(some)
        return count

    def put_back_halved(
        self, batch: Batch, *, together: int, halved_of: str, wait_seconds: float
    ) -> None:
        """Put all of them back for batches of so many of them alone.

        Args:
            halved_of: the first batch that was halved, of which they all are.
            wait_seconds: no batch is made of the first ones before the last ones are back.
        """
        for some in groups(self.pending(batch), _ROWS_READ):

            def put_back(row: Row) -> None:
                self.ends.put_back(
                    row, wait_seconds=wait_seconds, together=together, halved_of=halved_of
                )

            in_parallel(put_back, some, at_most=_WRITERS)

    def put_back_others(
        self, batch: Batch, kept: Set[str], seconds_left: Callable[[], float]
    ) -> bool:
        """Put back those that are not kept, none of which was tried; False if time is over."""
        others = (row for row in self.pending(batch) if row.id not in kept)
        for some in groups(others, _ROWS_READ):
            if seconds_left() < _SPARE_SECONDS:
                return False
            in_parallel(self.ends.put_back, some, at_most=_WRITERS)
        return True

    def end_unasked(self, batch: Batch, code: LlmErrorCode) -> None:
        """End all of them, none of which was asked."""
        for some in groups(self.pending(batch), _ROWS_READ):
            in_parallel(lambda row: self.ends.unasked(row, code), some, at_most=_WRITERS)

    def end_unwanted(self, batch: Batch, now: datetime) -> None:
        """End those that were canceled, or whose time is up, none of which was asked."""
        for row in self.pending(batch):
            if row.cancel_requested_at is not None:
                self.ends.unasked(row, "canceled")
            elif row.complete_by is not None and row.complete_by <= now:
                self.ends.unasked(row, "expired")

    def charge_dearest(self, batch: Batch, *, at_most: int) -> int:
        """Charge some of them at their bounds, and put them back; return how many these were.

        They are the dearest: whichever were asked by a step that was killed, if no more than these,
        the bill is no higher.
        """
        dearest = heapq.nlargest(at_most, self.pending(batch), key=lambda row: row.bound_nano_usd)

        def charge(row: Row) -> None:
            self.ends.refused(row, STEP_LOST, more_attempts=row.cancel_requested_at is None)

        in_parallel(charge, dearest, at_most=_WRITERS)
        return len(dearest)

    def refuse(self, batch: Batch, refusal: Refusal, *, more_attempts: bool) -> int:
        """End all of them for the same reason, or put them back; return how many went back."""
        requeued = []
        version = batch.job.key_version if batch.job else 0
        for some in groups(self.pending(batch), _ROWS_READ):

            def refuse(row: Row) -> None:
                after = self.ends.refused(
                    row, refusal, more_attempts=more_attempts, key_version=version
                )
                if after is not None and after.status == "queued":
                    requeued.append(row.id)

            in_parallel(refuse, some, at_most=_WRITERS)
        return len(requeued)
