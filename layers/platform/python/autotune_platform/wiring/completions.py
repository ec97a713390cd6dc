"""Parts on the ``completions`` table: completions, verdicts, runs."""

from functools import cached_property

from autotune_platform.completions.listing import ScoreListing
from autotune_platform.completions.open_batches import OpenBatches
from autotune_platform.completions.queues import ChunkQueues
from autotune_platform.completions.repository import CompletionRepository
from autotune_platform.completions.service import CompletionService
from autotune_platform.completions.submission import SubmissionService
from autotune_platform.rewards.answering import RewardAnswers
from autotune_platform.rewards.repository import ClaimRepository
from autotune_platform.rewards.scoring import RewardScoring
from autotune_platform.runs.recorder import RunRecorder
from autotune_platform.runs.repository import RunRepository
from autotune_platform.runs.service import RunService
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment import ContentEnvironment, SubmissionEnvironment
from autotune_platform.storage.table import Table
from autotune_platform.verdicts.opinions import OpinionRepository
from autotune_platform.verdicts.panels import PanelRecords
from autotune_platform.verdicts.repository import VerdictRepository
from autotune_platform.verdicts.score_index import ScoreIndex
from autotune_platform.verdicts.service import VerdictService
from autotune_platform.verdicts.walking import ScoreWalk
from autotune_platform.wiring.registry import (
    ApiParts,
    GraderParts,
    RegistryParts,
    RewardUrlParts,
    TaskParts,
)


class VerdictParts(RegistryParts):
    """Verdicts, opinions and panels."""

    environment: ContentEnvironment

    @cached_property
    def completions_table(self) -> Table:
        return Table(self.environment.completions_table, clients.dynamodb())

    @cached_property
    def panels(self) -> PanelRecords:
        return PanelRecords(self.completions_table)

    @cached_property
    def verdicts(self) -> VerdictService:
        return VerdictService(
            repository=VerdictRepository(self.completions_table),
            index=ScoreIndex(self.completions_table),
            opinions=OpinionRepository(self.completions_table),
            panels=self.panels,
        )


class CompletionParts(VerdictParts, GraderParts):
    """Completions and their batches."""

    environment: ContentEnvironment

    @cached_property
    def completion_repository(self) -> CompletionRepository:
        return CompletionRepository(
            table=self.completions_table, bucket=self.environment.content_bucket, s3=clients.s3()
        )

    @cached_property
    def completions(self) -> CompletionService:
        return CompletionService(
            repository=self.completion_repository,
            erasers=[self.completion_repository],
            verdicts=self.verdicts,
            graders=self.graders,
        )

    @cached_property
    def open_batches(self) -> OpenBatches:
        repository = self.completion_repository
        return OpenBatches(repository=repository, due=repository.due)


class ScoreApiParts(ApiParts, CompletionParts, TaskParts):
    """What lists scores."""

    environment: ContentEnvironment

    @cached_property
    def score_listing(self) -> ScoreListing:
        return ScoreListing(
            walk=ScoreWalk(verdicts=self.verdicts, tasks=self.tasks),
            verdicts=self.verdicts,
            completions=self.completions,
            graders=self.graders,
        )


class SubmissionParts(CompletionParts, TaskParts):
    """What accepts completions."""

    environment: SubmissionEnvironment

    @cached_property
    def chunk_queues(self) -> ChunkQueues:
        return ChunkQueues(urls=self.environment.queue_urls, sqs=clients.sqs())

    @cached_property
    def submissions(self) -> SubmissionService:
        return SubmissionService(
            repository=self.completion_repository,
            queues=self.chunk_queues,
            tasks=self.tasks,
            graders=self.graders,
            panels=self.panels,
        )


class CompletionApiParts(ApiParts, SubmissionParts):
    """What accepts completions, and shows what became of them."""

    environment: SubmissionEnvironment


class RewardScoringParts(ApiParts, SubmissionParts, RewardUrlParts):
    """What scores trainers' questions."""

    environment: SubmissionEnvironment

    @cached_property
    def reward_scoring(self) -> RewardScoring:
        return RewardScoring(
            claims=ClaimRepository(self.registry_table),
            tasks=self.tasks,
            submissions=self.submissions,
            completions=self.completions,
            verdicts=self.verdicts,
        )

    @cached_property
    def reward_answers(self) -> RewardAnswers:
        return RewardAnswers(scoring=self.reward_scoring)


class RunParts(CompletionParts):
    """Runs as records."""

    @cached_property
    def run_repository(self) -> RunRepository:
        return RunRepository(self.completions_table)

    @cached_property
    def run_recorder(self) -> RunRecorder:
        return RunRecorder(repository=self.run_repository)


class RunApiParts(ApiParts, RunParts):
    """What shows and cancels runs."""

    environment: ContentEnvironment

    @cached_property
    def runs(self) -> RunService:
        return RunService(
            repository=self.run_repository, completions=self.completions, verdicts=self.verdicts
        )
