"""Parts that grade completions."""

from functools import cached_property

from autotune_platform.budgets.permits import Permits
from autotune_platform.budgets.repository import BudgetRepository
from autotune_platform.judging.builtin import BuiltinJudge
from autotune_platform.judging.http.judge import HttpJudge
from autotune_platform.judging.human.judge import HumanJudge
from autotune_platform.judging.judge import Judges
from autotune_platform.judging.rubric.judge import RubricJudge
from autotune_platform.runs.durable_wait import TaskTokens
from autotune_platform.runs.parked import ParkedRepository
from autotune_platform.runs.parking import Parking
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment.scoring import GradingEnvironment
from autotune_platform.scoring.endings import Endings
from autotune_platform.scoring.rounds import ChunkGrading
from autotune_platform.wiring.gateway import GatewayParts
from autotune_platform.wiring.orders import OrderParts
from autotune_platform.wiring.scoring import CallParts, ResolverParts
from autotune_platform.wiring.writing import WriterParts


class GradingParts(WriterParts, CallParts, ResolverParts, GatewayParts, OrderParts):
    """What grades completions."""

    environment: GradingEnvironment

    @cached_property
    def permits(self) -> Permits:
        return Permits(budgets=BudgetRepository(self.budgets_table))

    @cached_property
    def parking(self) -> Parking:
        return Parking(
            records=self.run_repository,
            parked=ParkedRepository(self.completions_table),
            tokens=TaskTokens(stepfunctions=clients.stepfunctions()),
            permits=self.permits,
        )

    @cached_property
    def judges(self) -> Judges:
        http = HttpJudge(
            gateway=self.gateway,
            permits=self.permits,
            calls=self.calls,
            callbacks=self.callbacks,
            api_url=self.environment.api_url,
        )
        return Judges(
            {
                "http": http,
                "builtin": BuiltinJudge(),
                "human": HumanJudge(),
                "rubric": RubricJudge(made_orders=lambda: self.row_orders),
            }
        )

    @cached_property
    def grading(self) -> ChunkGrading:
        return ChunkGrading(
            batches=self.open_batches,
            completions=self.completions,
            verdicts=self.verdicts,
            graders=self.graders,
            judges=self.judges,
            resolver=self.resolver,
            recorder=self.run_recorder,
            writer=self.writer,
            endings=Endings(completions=self.completions, writer=self.writer),
            parking=self.parking,
        )
