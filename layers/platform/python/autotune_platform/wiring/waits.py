"""Parts that begin and end the waits of runs."""

from collections.abc import Sequence
from functools import cached_property

from autotune_platform.budgets.permits import Permits
from autotune_platform.budgets.repository import BudgetRepository
from autotune_platform.judging.human.judge import ReviewWaits
from autotune_platform.judging.rubric.waiting import RowWaits
from autotune_platform.ledger.ordering import OrderedRows
from autotune_platform.ledger.row_repository import RowRepository
from autotune_platform.runs.durable_wait import DurableWait, TaskTokens
from autotune_platform.runs.parked import ParkedRepository
from autotune_platform.runs.parking import Parking
from autotune_platform.runs.waits import AwaitedSignals, RunWaits
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment.completions import ContentEnvironment
from autotune_platform.runtime.environment.scoring import AwaitEnvironment
from autotune_platform.storage.table import Table
from autotune_platform.wiring.runs import RunParts
from autotune_platform.wiring.scoring import CallParts, ResolverParts


class WaitParts(RunParts, CallParts, ResolverParts):
    """What begins and ends the waits of runs."""

    environment: ContentEnvironment

    @property
    def further_signals(self) -> Sequence[AwaitedSignals]:
        """What else runs may wait for; who ends no such wait does not look."""
        return ()

    @cached_property
    def run_waits(self) -> RunWaits:
        tokens = TaskTokens(stepfunctions=clients.stepfunctions())
        review_waits = ReviewWaits(records=self.review_records, verdicts=self.verdicts)
        return RunWaits(
            repository=self.run_repository,
            verdicts=self.verdicts,
            wait=DurableWait(records=self.run_repository, tokens=tokens),
            signals=[self.call_waits, review_waits, *self.further_signals],
        )


class AwaitParts(WaitParts):
    """What lets runs wait, for signals or for a grader that is down."""

    environment: AwaitEnvironment

    @property
    def further_signals(self) -> Sequence[AwaitedSignals]:
        ledger = Table(self.environment.ledger_table, clients.dynamodb())
        return [RowWaits(ordered=OrderedRows(rows=RowRepository(ledger)))]

    @cached_property
    def parking(self) -> Parking:
        budgets = Table(self.environment.budgets_table, clients.dynamodb())
        return Parking(
            records=self.run_repository,
            parked=ParkedRepository(self.completions_table),
            tokens=TaskTokens(stepfunctions=clients.stepfunctions()),
            permits=Permits(budgets=BudgetRepository(budgets)),
        )
