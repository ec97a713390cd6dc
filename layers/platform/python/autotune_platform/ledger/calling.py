"""Calls that somebody waits for: a row, a reservation and a booking like any other.

The row is stored with its reservation before the call, and settled after it. What is killed in
between is found by the sweeper, and charged what it costs at most: whether it was paid, nobody
knows.
"""

from datetime import timedelta

from aws_lambda_powertools import Logger

from autotune.protocol.ids import new_id
from autotune.protocol.llm_requests import EnqueueLlmRequest
from autotune_platform.access.models import Caller
from autotune_platform.budgets.money import MoneyBudgets
from autotune_platform.ledger.asking import RowAsking
from autotune_platform.ledger.batch_repository import BatchRepository
from autotune_platform.ledger.calls import Answer, Refusal
from autotune_platform.ledger.costs import TRACED, CostRepository, Spent, TracedSpent
from autotune_platform.ledger.ending import RowEnds
from autotune_platform.ledger.models import Row
from autotune_platform.ledger.planning import RowPlanner
from autotune_platform.ledger.row_repository import RowRepository
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import BudgetExhaustedError, UnavailableError
from autotune_platform.runtime.parts import part

logger = Logger()

_RESERVATIONS_TRIED = 8
_LOST_AFTER = timedelta(minutes=10)


@part
class LedgerCalls:
    """The one way in which the product calls a language model and waits for the answer."""

    planner: RowPlanner
    rows: RowRepository
    batches: BatchRepository
    asking: RowAsking
    ends: RowEnds
    money: MoneyBudgets
    costs: CostRepository
    clock: Clock = SYSTEM_CLOCK

    def call(self, caller: Caller, request: EnqueueLlmRequest) -> tuple[Row, Answer | Refusal]:
        """Ask a model once; return the row as it ended, and what came.

        Raises:
            InvalidRequestError: it cannot be asked.
            BudgetExhaustedError: a budget has no room for it.
            UnavailableError: the table is busy; nothing was asked.
        """
        (planned,) = self.planner.plan(caller, [request], [new_id("llm")], alone=True, at_once=True)
        row = self._reserved(planned.row.model_copy(update={"status": "submitted"}))
        outcome = self.asking.once(planned.connection, row, planned.text)
        if isinstance(outcome, Answer):
            ended = self.ends.answered(row, planned.text, outcome)
        else:
            ended = self.ends.refused(row, outcome, more_attempts=False)
        ended = ended or self.rows.get(row.id) or row
        self.settle(ended)
        return ended, outcome

    def settle(self, row: Row) -> None:
        """Give back what was set aside for a row that has ended; doing it again changes nothing."""
        spent = Spent()
        spent.add(row, row.cost_nano_usd)
        by_trace = TracedSpent()
        by_trace.add(row, row.cost_nano_usd)
        now = self.clock.now()
        settled = self.batches.settling_row(row.id)
        additions = [
            settled,
            *self.money.settlement(
                row.organization_id,
                row.periods,
                reserved=row.bound_nano_usd,
                spent=row.cost_nano_usd,
            ),
            *self.costs.additions(
                row.organization_id,
                now,
                connection_id=row.connection_id,
                model=row.model,
                by_purpose={row.purpose: spent},
            ),
            *self.costs.traced(row.organization_id, now, by_trace, room=len(TRACED)),
        ]
        self.batches.write(additions, undone=settled)
        self.batches.close(row.id)

    def recover(self, row: Row) -> None:
        """End and settle a row whose caller was killed."""
        if not row.has_ended:
            logger.warning("call was lost; it may have been paid", request_id=row.id)
            unclear = Refusal("outcome_unclear", "the call was interrupted", may_be_paid=True)
            row = self.ends.refused(row, unclear, more_attempts=False) or row
        self.settle(row)

    def _reserved(self, row: Row) -> Row:
        for _ in range(_RESERVATIONS_TRIED):
            room = self.money.room(row.organization_id)
            if room is not None and row.bound_nano_usd > room:
                self.money.refused(row.organization_id)
                raise BudgetExhaustedError(
                    "the budget for language models has no room for this call"
                )
            reservation = self.money.reservation(row.organization_id, row.bound_nano_usd)
            reserved = row.model_copy(update={"periods": reservation.periods})
            opening = self.batches.opening_row(
                self.rows.item(reserved, queued_at=None), due_at=self.clock.now() + _LOST_AFTER
            )
            if self.batches.try_write([opening, *reservation.additions]):
                return reserved
        raise UnavailableError("the table is busy", retry_after_seconds=1)
