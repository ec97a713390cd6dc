"""Parts that submit, dispatch, grade, project and recover."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from autotune_platform.runtime import clients
from autotune_platform.runtime.environment import (
    DispatchEnvironment,
    GradingEnvironment,
    ProjectionEnvironment,
    SubmissionEnvironment,
    SweepEnvironment,
)
from autotune_platform.storage.table import Table
from autotune_platform.wiring.completions import ContentParts
from autotune_platform.wiring.outbound import GatewayParts, WebhookParts

if TYPE_CHECKING:
    from autotune_platform.budgets.permits import Permits
    from autotune_platform.completions.queues import ChunkQueues
    from autotune_platform.completions.submission import SubmissionService
    from autotune_platform.judging.judges import Judges
    from autotune_platform.operations.stuck import StuckWork
    from autotune_platform.projections.projection import VerdictProjection
    from autotune_platform.rewards.answering import RewardAnswers
    from autotune_platform.rewards.scoring import RewardScoring
    from autotune_platform.scoring.dispatch import DispatchService
    from autotune_platform.scoring.recovery import BatchRecovery
    from autotune_platform.scoring.rounds import ChunkGrading
    from autotune_platform.scoring.sweeper import Sweeper
    from autotune_platform.storage.changes import Router


class DispatchParts:
    """What starts runs."""

    def __init__(self, environment: DispatchEnvironment) -> None:
        self.environment = environment

    @cached_property
    def dispatch(self) -> DispatchService:
        from autotune_platform.runs.recorder import RunRecorder
        from autotune_platform.runs.repository import RunRepository
        from autotune_platform.runtime.executions import Executions
        from autotune_platform.scoring.dispatch import DispatchService

        table = Table(self.environment.completions_table, clients.dynamodb())
        executions = Executions(
            state_machine_arn=self.environment.score_completions_arn,
            stepfunctions=clients.stepfunctions(),
        )
        recorder = RunRecorder(repository=RunRepository(table))
        return DispatchService(runs=executions, recorder=recorder)


class GradingParts(ContentParts, GatewayParts):
    """What grades completions."""

    environment: GradingEnvironment

    @cached_property
    def permits(self) -> Permits:
        from autotune_platform.budgets.permits import Permits
        from autotune_platform.budgets.repository import BudgetRepository

        table = Table(self.environment.budgets_table, clients.dynamodb())
        return Permits(budgets=BudgetRepository(table))

    @cached_property
    def judges(self) -> Judges:
        from autotune_platform.judging.builtin import BuiltinJudge
        from autotune_platform.judging.http.judge import HttpJudge
        from autotune_platform.judging.human.judge import HumanJudge
        from autotune_platform.judging.judges import Judges

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
        from autotune_platform.scoring.rounds import ChunkGrading

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


class SubmissionParts(ContentParts):
    """What accepts completions, and drives them again."""

    environment: SubmissionEnvironment

    @cached_property
    def chunk_queues(self) -> ChunkQueues:
        from autotune_platform.completions.queues import ChunkQueues

        return ChunkQueues(urls=self.environment.queue_urls, sqs=clients.sqs())

    @cached_property
    def submissions(self) -> SubmissionService:
        from autotune_platform.completions.submission import SubmissionService

        return SubmissionService(
            repository=self.completion_repository,
            queues=self.chunk_queues,
            tasks=self.tasks,
            graders=self.graders,
            panels=self.panels,
        )

    @cached_property
    def recovery(self) -> BatchRecovery:
        from autotune_platform.scoring.recovery import BatchRecovery

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
        from autotune_platform.operations.stuck import StuckWork

        return StuckWork(batches=self.open_batches, recovery=self.recovery)

    @cached_property
    def reward_scoring(self) -> RewardScoring:
        from autotune_platform.rewards.repository import ClaimRepository
        from autotune_platform.rewards.scoring import RewardScoring

        return RewardScoring(
            claims=ClaimRepository(self.registry_table),
            tasks=self.tasks,
            submissions=self.submissions,
            completions=self.completions,
            verdicts=self.verdicts,
        )

    @cached_property
    def reward_answers(self) -> RewardAnswers:
        from autotune_platform.rewards.answering import RewardAnswers

        return RewardAnswers(scoring=self.reward_scoring)


class ProjectionParts(ContentParts, WebhookParts):
    """What follows verdicts."""

    environment: ProjectionEnvironment

    @cached_property
    def projection(self) -> VerdictProjection:
        from autotune_platform.projections.checkpoints import CheckpointRepository
        from autotune_platform.projections.decisions import DecisionAudit
        from autotune_platform.projections.projection import VerdictProjection

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
        from autotune_platform.storage.changes import Route, Router
        from autotune_platform.verdicts.stored_verdicts import NEW_VERDICTS

        return Router(Route(NEW_VERDICTS, lambda: self.projection))


class SweepParts(SubmissionParts, ProjectionParts):
    """What finds what was lost, and mends it."""

    environment: SweepEnvironment

    @cached_property
    def sweeper(self) -> Sweeper:
        from autotune_platform.scoring.sweeper import Sweeper

        return Sweeper(
            batches=self.open_batches,
            recovery=self.recovery,
            queues=self.chunk_queues,
            waits=self.call_waits,
            projection=self.projection,
        )
