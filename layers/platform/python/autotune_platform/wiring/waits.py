"""Parts that begin and end the waits of runs."""

from functools import cached_property

from autotune_platform.budgets.permits import Permits
from autotune_platform.budgets.repository import BudgetRepository
from autotune_platform.judging.human.judge import ReviewWaits
from autotune_platform.runs.durable_wait import DurableWait, TaskTokens
from autotune_platform.runs.parked import ParkedRepository
from autotune_platform.runs.parking import Parking
from autotune_platform.runs.waits import RunWaits
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment import AwaitEnvironment, ContentEnvironment
from autotune_platform.storage.table import Table
from autotune_platform.wiring.runs import RunParts
from autotune_platform.wiring.scoring import CallParts, ResolverParts


class WaitParts(RunParts, CallParts, ResolverParts):
    """What begins and ends the waits of runs."""

    environment: ContentEnvironment

    @cached_property
    def run_waits(self) -> RunWaits:
        tokens = TaskTokens(stepfunctions=clients.stepfunctions())
        review_waits = ReviewWaits(records=self.review_records, verdicts=self.verdicts)
        return RunWaits(
            repository=self.run_repository,
            verdicts=self.verdicts,
            wait=DurableWait(records=self.run_repository, tokens=tokens),
            signals=[self.call_waits, review_waits],
        )


class AwaitParts(WaitParts):
    """What lets runs wait, for signals or for a grader that is down."""

    environment: AwaitEnvironment

    @cached_property
    def parking(self) -> Parking:
        budgets = Table(self.environment.budgets_table, clients.dynamodb())
        return Parking(
            records=self.run_repository,
            parked=ParkedRepository(self.completions_table),
            tokens=TaskTokens(stepfunctions=clients.stepfunctions()),
            permits=Permits(budgets=BudgetRepository(budgets)),
        )
