"""Parts that dispatch, grade, wake, project and recover."""

from functools import cached_property

from autotune_platform.budgets.permits import Permits
from autotune_platform.budgets.repository import BudgetRepository
from autotune_platform.judging.builtin import BuiltinJudge
from autotune_platform.judging.http.callbacks import Callbacks
from autotune_platform.judging.http.judge import HttpJudge
from autotune_platform.judging.http.repository import CallRepository
from autotune_platform.judging.http.waiting import CallWaits
from autotune_platform.judging.human.judge import HumanJudge
from autotune_platform.judging.human.records import ReviewRecords
from autotune_platform.judging.human.waiting import ReviewWaits
from autotune_platform.judging.judges import Judges
from autotune_platform.operations.stuck import StuckWork
from autotune_platform.projections.checkpoints import CheckpointRepository
from autotune_platform.projections.decisions import DecisionAudit
from autotune_platform.projections.projection import VerdictProjection
from autotune_platform.runs.durable_wait import DurableWait
from autotune_platform.runs.recorder import RunRecorder
from autotune_platform.runs.repository import RunRepository
from autotune_platform.runs.tokens import TaskTokens
from autotune_platform.runs.waits import RunWaits
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment import (
    ContentEnvironment,
    DispatchEnvironment,
    GradingEnvironment,
    ProjectionEnvironment,
    SubmissionEnvironment,
    SweepEnvironment,
)
from autotune_platform.runtime.executions import Executions
from autotune_platform.scoring.callbacks import CallbackService
from autotune_platform.scoring.dispatch import DispatchService
from autotune_platform.scoring.failure import ChunkFailure
from autotune_platform.scoring.recovery import BatchRecovery
from autotune_platform.scoring.resolving import PanelResolver
from autotune_platform.scoring.rounds import ChunkGrading
from autotune_platform.scoring.sweeper import Sweeper
from autotune_platform.scoring.writing import VerdictWriter
from autotune_platform.storage.changes import Route, Router
from autotune_platform.storage.table import Table
from autotune_platform.verdicts.stored_verdicts import NEW_VERDICTS
from autotune_platform.wiring.completions import (
    CompletionParts,
    RunParts,
    SubmissionParts,
    VerdictParts,
)
from autotune_platform.wiring.outbound import GatewayParts
from autotune_platform.wiring.registry import ApiParts, AuditParts, GraderParts, StatisticsParts
from autotune_platform.wiring.webhooks import PublisherParts


class DispatchParts:
    """What starts runs."""

    def __init__(self, environment: DispatchEnvironment) -> None:
        self.environment = environment

    @cached_property
    def dispatch(self) -> DispatchService:
        table = Table(self.environment.completions_table, clients.dynamodb())
        executions = Executions(
            state_machine_arn=self.environment.score_completions_arn,
            stepfunctions=clients.stepfunctions(),
        )
        recorder = RunRecorder(repository=RunRepository(table))
        return DispatchService(runs=executions, recorder=recorder)


class CallParts(VerdictParts, GraderParts):
    """Calls that graders answer later."""

    environment: ContentEnvironment

    @cached_property
    def calls(self) -> CallRepository:
        return CallRepository(self.completions_table)

    @cached_property
    def callbacks(self) -> Callbacks:
        return Callbacks(calls=self.calls, graders=self.graders)

    @cached_property
    def call_waits(self) -> CallWaits:
        return CallWaits(repository=self.calls, verdicts=self.verdicts)


class ResolverParts(VerdictParts):
    """What resolves panels."""

    @cached_property
    def review_records(self) -> ReviewRecords:
        return ReviewRecords(self.completions_table)

    @cached_property
    def resolver(self) -> PanelResolver:
        return PanelResolver(
            verdicts=self.verdicts, panels=self.panels, reviews=self.review_records
        )


class WriterParts(RunParts, StatisticsParts):
    """What writes verdicts."""

    environment: ContentEnvironment

    @cached_property
    def writer(self) -> VerdictWriter:
        return VerdictWriter(
            completions=self.completions,
            verdicts=self.verdicts,
            statistics=self.statistics,
            recorder=self.run_recorder,
        )


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
            words=[self.call_waits, review_waits],
        )


class GradingParts(WriterParts, CallParts, ResolverParts, GatewayParts):
    """What grades completions."""

    environment: GradingEnvironment

    @cached_property
    def permits(self) -> Permits:
        table = Table(self.environment.budgets_table, clients.dynamodb())
        return Permits(budgets=BudgetRepository(table))

    @cached_property
    def judges(self) -> Judges:
        http = HttpJudge(
            gateway=self.gateway,
            permits=self.permits,
            calls=self.calls,
            callbacks=self.callbacks,
            api_url=self.environment.api_url,
        )
        return Judges({"http": http, "builtin": BuiltinJudge(), "human": HumanJudge()})

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
        )


class CallbackApiParts(ApiParts, WriterParts, WaitParts):
    """What takes graders' later answers."""

    environment: ContentEnvironment

    @cached_property
    def callback_service(self) -> CallbackService:
        return CallbackService(
            callbacks=self.callbacks,
            batches=self.open_batches,
            completions=self.completions,
            verdicts=self.verdicts,
            writer=self.writer,
            resolver=self.resolver,
            waits=self.run_waits,
        )


class FailureParts(RunParts, CallParts, ResolverParts):
    """What ends a run that gave up."""

    environment: ContentEnvironment

    @cached_property
    def chunk_failure(self) -> ChunkFailure:
        return ChunkFailure(
            completions=self.completions,
            verdicts=self.verdicts,
            resolver=self.resolver,
            waits=self.call_waits,
            recorder=self.run_recorder,
        )


class RecoveryParts(SubmissionParts, ResolverParts):
    """What finds lost work."""

    environment: SubmissionEnvironment

    @cached_property
    def recovery(self) -> BatchRecovery:
        return BatchRecovery(
            batches=self.open_batches,
            completions=self.completions,
            queues=self.chunk_queues,
            verdicts=self.verdicts,
            panels=self.panels,
            resolver=self.resolver,
        )

    @cached_property
    def stuck_work(self) -> StuckWork:
        return StuckWork(batches=self.open_batches, recovery=self.recovery)


class ProjectionParts(CompletionParts, StatisticsParts, PublisherParts, AuditParts):
    """What follows verdicts."""

    environment: ProjectionEnvironment

    @cached_property
    def projection(self) -> VerdictProjection:
        return VerdictProjection(
            completions=self.completions,
            verdicts=self.verdicts,
            checkpoints=CheckpointRepository(self.completions_table),
            panels=self.panels,
            statistics=self.statistics,
            publisher=self.publisher,
            audit=DecisionAudit(addition=self.audit_repository.addition),
        )

    @cached_property
    def verdict_router(self) -> Router:
        return Router(Route(NEW_VERDICTS, lambda: self.projection))


class SweepParts(RecoveryParts, CallParts, ProjectionParts):
    """What finds what was lost, and mends it."""

    environment: SweepEnvironment

    @cached_property
    def sweeper(self) -> Sweeper:
        return Sweeper(
            batches=self.open_batches,
            recovery=self.recovery,
            queues=self.chunk_queues,
            waits=self.call_waits,
            projection=self.projection,
        )
