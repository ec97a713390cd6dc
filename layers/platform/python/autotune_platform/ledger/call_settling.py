"""The end of a call that somebody waited for, also of one that was lost; no key is needed for it.

What is killed in between is charged what it costs at most: whether it was paid, nobody knows. Where
there are no texts yet, it was not asked, and costs nothing.
"""

from collections.abc import Sequence

from aws_lambda_powertools import Logger

from autotune_platform.budgets.money import MoneyBudgets
from autotune_platform.ledger.apprenticed import Lost, nothing_lost
from autotune_platform.ledger.batch_repository import BatchRepository
from autotune_platform.ledger.calls import Refusal
from autotune_platform.ledger.costs import TRACED, CostRepository, Spent, TracedSpent
from autotune_platform.ledger.ending import Ending, RowEnds
from autotune_platform.ledger.models import Row
from autotune_platform.ledger.row_repository import RowRepository
from autotune_platform.ledger.texts import RowTexts
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.parts import part
from autotune_platform.storage.counting import Addition

logger = Logger()


@part
class CallSettling:
    """Settles calls, each of which has a reservation of its own.

    Attributes:
        lost: what else is written of a row whose caller was killed.
    """

    rows: RowRepository
    texts: RowTexts
    batches: BatchRepository
    ends: RowEnds
    money: MoneyBudgets
    costs: CostRepository
    lost: Lost = nothing_lost
    clock: Clock = SYSTEM_CLOCK

    def end(self, ending: Ending, closing: Sequence[Addition] = ()) -> Row:
        """End and settle a row in one transaction; return it as it is then.

        Where others keep at the money, the row ends without it, so that no answer is lost; the
        sweeper settles it then. Another may have ended it before.

        Args:
            closing: what else is written, if its conditions hold.
        """
        settled = self.batches.settling_with(ending.ended)
        all_of_it = [settled, *ending.texts, *self._booking(ending.row)]
        try:
            if self.batches.write(all_of_it, undone=settled, if_it_holds=closing):
                return ending.row
        except UnavailableError:
            logger.warning("a call is settled later", request_id=ending.row.id)
            only_ended = [ending.ended, *ending.texts]
            if self.batches.write(only_ended, undone=ending.ended, if_it_holds=closing):
                return ending.row
        before = self.rows.get(ending.row.id)
        if before is not None and before.has_ended:
            self.settle(before)
        return before or ending.row

    def settle(self, row: Row) -> None:
        """Give back what was set aside for a row that has ended; doing it again changes nothing."""
        settled = self.batches.settling_row(row.id)
        if not self.batches.write([settled, *self._booking(row)], undone=settled):
            self.batches.close(row.id)

    def recover(self, row: Row) -> None:
        """End and settle a row whose caller was killed."""
        if row.has_ended:
            self.settle(row)
            return
        lost = Refusal("platform_error", "the call was interrupted before it was made")
        if self.texts.has_input(row.id):
            logger.warning("call was lost; it may have been paid", request_id=row.id)
            lost = Refusal("outcome_unclear", "the call was interrupted", may_be_paid=True)
        ending = self.ends.refusing(row, lost)
        self.end(ending, self.lost(ending.row))

    def _booking(self, row: Row) -> list[Addition]:
        """Return what gives back a row's reservation, and counts what it cost."""
        spent = Spent()
        spent.add(row, row.cost_nano_usd)
        by_trace = TracedSpent()
        by_trace.add(row, row.cost_nano_usd)
        now = self.clock.now()
        return [
            *self.money.settlement(
                row.scopes,
                row.periods,
                reserved=row.bound_nano_usd,
                spent=row.cost_nano_usd,
                row_id=row.id,
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
