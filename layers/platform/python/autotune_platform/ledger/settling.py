"""The end of a batch: rows are counted, money is given back, its cost is listed, webhooks hear.

All of it is one transaction, computed from the rows themselves: doing it again changes nothing.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from aws_lambda_powertools import Logger

from autotune.protocol.ids import derived_id
from autotune.protocol.llm_batches import LlmBatchStatus
from autotune.protocol.llm_events import LedgerBatchCompleted
from autotune_platform.budgets.money import MoneyBudgets
from autotune_platform.ledger.batch_repository import BatchRepository
from autotune_platform.ledger.claims import Amount, ClaimRepository
from autotune_platform.ledger.comparing import DIFFERS, Booked, difference
from autotune_platform.ledger.costs import CostRepository, Spent, TracedSpent
from autotune_platform.ledger.live_jobs import LiveJobs
from autotune_platform.ledger.models import Batch, Row
from autotune_platform.ledger.open_calls import OpenCalls
from autotune_platform.ledger.row_repository import RowRepository
from autotune_platform.ledger.usage import Difference
from autotune_platform.ledger.wire import batch_on_wire
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.grouping import groups
from autotune_platform.runtime.parts import part
from autotune_platform.storage.counting import MAX_ADDITIONS
from autotune_platform.webhooks.models import Event

logger = Logger()

_ROWS_READ = 500
_MOST_PURPOSES = 80
_OTHERS = "others"


@dataclass
class Totals:
    """What became of a batch's rows in it; ``cost`` is in billionths of a US dollar."""

    completed: int = 0
    failed: int = 0
    canceled: int = 0
    released: int = 0
    pending: int = 0
    ended_bytes: int = 0
    reasks_due: int = 0
    cost: int = 0
    booked: Booked = field(default_factory=Booked)
    by_purpose: dict[str, Spent] = field(default_factory=lambda: defaultdict(Spent))
    by_trace: TracedSpent = field(default_factory=TracedSpent)

    def add(self, row: Row, batch_id: str) -> None:
        """Count a row."""
        spent = row.cost_in(batch_id)
        self.cost += spent
        self.booked.add(row, batch_id)
        is_tried = spent or (row.batch_id == batch_id and row.status == "completed")
        self.reasks_due += row.is_reask_due_in(batch_id)
        purpose = row.purpose
        if purpose not in self.by_purpose and len(self.by_purpose) >= _MOST_PURPOSES:
            purpose = _OTHERS
        if is_tried:
            self.by_purpose[purpose].add(row, spent, batch_id)
            self.by_trace.add(row, spent, batch_id)
        if row.batch_id == batch_id and row.has_ended:
            self.ended_bytes += row.input_bytes
        if row.batch_id != batch_id:
            self.released += 1
        elif row.status == "completed":
            self.completed += 1
        elif row.status == "error":
            self.failed += 1
        elif row.status == "canceled":
            self.canceled += 1
        else:
            self.pending += 1

    @property
    def ended(self) -> int:
        """Rows that are under way no more."""
        return self.completed + self.failed + self.canceled

    @property
    def numbers(self) -> Mapping[str, int]:
        """What a batch shows of it."""
        return {
            "completed": self.completed,
            "failed": self.failed,
            "canceled": self.canceled,
            "released": self.released,
            "cost_nano_usd": self.cost,
            "above_bound": self.booked.above_bound,
        }


@part
class BatchSettling:
    """Counts batches, and settles them once all their rows have an end or have left them."""

    rows: RowRepository
    batches: BatchRepository
    claims: ClaimRepository
    costs: CostRepository
    live: LiveJobs
    money: MoneyBudgets
    open_calls: OpenCalls
    clock: Clock = SYSTEM_CLOCK

    def totals(self, batch: Batch) -> Totals:
        """Return what became of a batch's rows, which are read for it."""
        return totals_of(self._rows(batch), batch.id)

    def settle(self, batch: Batch, totals: Totals) -> None:
        """Settle a batch none of whose rows is pending; settling it again changes nothing.

        Args:
            totals: of its rows, each of which had an end or had left it when it was read.

        Raises:
            UnavailableError: the table is busy, or a row is pending or to be asked again after all;
                a later step counts them anew.
        """
        if totals.pending or totals.reasks_due:
            raise UnavailableError(
                f"{totals.pending} requests of {batch.id} are pending, and {totals.reasks_due} are "
                "to be asked again",
                retry_after_seconds=1,
            )
        now = self.clock.now()
        status: LlmBatchStatus = "completed" if batch.error is None else "error"
        if batch.cancel_requested_at is not None:
            status = "canceled"
        changes: dict[str, Any] = {
            **totals.numbers,
            "unclear": batch.unclear,
            "status": status,
            "completed_at": now,
        }
        after = batch.model_copy(update={**changes, "difference": self._compared(batch, totals)})
        if after.difference is not None:
            changes["difference"] = after.difference.model_dump(mode="json", exclude_none=True)
        settled = self.batches.settling(batch, changes)
        additions = [
            settled,
            self.batches.publishing(batch.id, batch_completed(after)),
            *self.money.settlement(
                [batch.organization_id],
                batch.periods,
                reserved=batch.reserved_nano_usd,
                spent=totals.cost,
            ),
            *self.claims.fewer(batch.organization_id, Amount(totals.ended, totals.ended_bytes)),
            *self.live.fewer(batch),
            *self.open_calls.closing(batch),
            *self.costs.additions(
                batch.organization_id,
                now,
                connection_id=batch.connection_id,
                model=batch.model,
                by_purpose=totals.by_purpose,
            ),
        ]
        room = MAX_ADDITIONS - len(additions)
        additions += self.costs.traced(batch.organization_id, now, totals.by_trace, room=room)
        if self.batches.write(additions, undone=settled):
            logger.info("batch settled", batch_id=batch.id, rows=dict(totals.numbers))
        self.batches.close(batch.id)

    def lets_another_begin(self, batch: Batch) -> bool:
        """Return whether rows waited for a batch to end that is settled."""
        return batch.is_counted and self.open_calls.of(batch.group).is_waiting

    def _compared(self, batch: Batch, totals: Totals) -> Difference | None:
        """Compare what was charged with what the provider reports, and say where they differ."""
        found = difference(batch, totals.booked)
        if found is not None and not found.within_tolerance:
            # Before anything is written: a step that is killed then says it again, and never not.
            assert batch.job is not None
            logger.error(
                DIFFERS,
                batch_id=batch.id,
                connection_id=batch.connection_id,
                job_id=batch.job.job_id,
                charged_nano_usd=totals.cost,
                difference=found.model_dump(exclude_none=True),
            )
        return found

    def _rows(self, batch: Batch) -> Iterator[Row]:
        for ids in groups(self.batches.row_ids(batch), _ROWS_READ):
            found = self.rows.get_many(ids)
            yield from (found[row_id] for row_id in ids if row_id in found)


def totals_of(rows: Iterable[Row], batch_id: str) -> Totals:
    """Return what became of rows in a batch."""
    totals = Totals()
    for row in rows:
        totals.add(row, batch_id)
    return totals


def batch_completed(batch: Batch) -> Event:
    """Return the event ``ledger.batch.completed`` of a batch that has ended."""
    assert batch.completed_at is not None
    shown = batch_on_wire(batch)
    data = LedgerBatchCompleted(
        batch_id=batch.id,
        status=batch.status,
        connection_id=batch.connection_id,
        provider=batch.provider,
        model=batch.model,
        counts=shown.counts,
        unclear=batch.unclear,
        above_bound=batch.above_bound,
        cost_nano_usd=batch.cost_nano_usd,
        reported=shown.reported,
        difference=shown.difference,
        created_at=batch.created_at,
        completed_at=batch.completed_at,
    )
    return Event(
        id=derived_id("evt", "ledger.batch.completed", batch.id),
        type="ledger.batch.completed",
        organization_id=batch.organization_id,
        occurred_at=batch.completed_at,
        data=data.model_dump(mode="json", by_alias=True),
    )
