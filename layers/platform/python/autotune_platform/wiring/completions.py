"""Parts on the ``completions`` table: completions, verdicts, runs, and what acts on answers."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from autotune_platform.runtime import clients
from autotune_platform.runtime.environment import ContentEnvironment
from autotune_platform.storage.table import Table
from autotune_platform.wiring.registry import RegistryParts

if TYPE_CHECKING:
    from autotune_platform.completions.forgetting import ContentForgetting
    from autotune_platform.completions.listing import ScoreListing
    from autotune_platform.completions.open_batches import OpenBatches
    from autotune_platform.completions.repository import CompletionRepository
    from autotune_platform.completions.service import CompletionService
    from autotune_platform.judging.http.callbacks import Callbacks
    from autotune_platform.judging.http.repository import CallRepository
    from autotune_platform.judging.http.waiting import CallWaits
    from autotune_platform.judging.human.records import ReviewRecords
    from autotune_platform.runs.recorder import RunRecorder
    from autotune_platform.runs.repository import RunRepository
    from autotune_platform.runs.service import RunService
    from autotune_platform.runs.waits import RunWaits
    from autotune_platform.scoring.callbacks import CallbackService
    from autotune_platform.scoring.failure import ChunkFailure
    from autotune_platform.scoring.resolving import PanelResolver
    from autotune_platform.scoring.writing import VerdictWriter
    from autotune_platform.verdicts.panels import PanelRecords
    from autotune_platform.verdicts.service import VerdictService


class ContentParts(RegistryParts):
    """What reads completions, and decides them."""

    environment: ContentEnvironment

    @cached_property
    def completions_table(self) -> Table:
        return Table(self.environment.completions_table, clients.dynamodb())

    @cached_property
    def panels(self) -> PanelRecords:
        from autotune_platform.verdicts.panels import PanelRecords

        return PanelRecords(self.completions_table)

    @cached_property
    def verdicts(self) -> VerdictService:
        from autotune_platform.verdicts.opinions import OpinionRepository
        from autotune_platform.verdicts.repository import VerdictRepository
        from autotune_platform.verdicts.score_index import ScoreIndex
        from autotune_platform.verdicts.service import VerdictService

        return VerdictService(
            repository=VerdictRepository(self.completions_table),
            index=ScoreIndex(self.completions_table),
            opinions=OpinionRepository(self.completions_table),
            panels=self.panels,
        )

    @cached_property
    def completion_repository(self) -> CompletionRepository:
        from autotune_platform.completions.repository import CompletionRepository

        return CompletionRepository(
            table=self.completions_table, bucket=self.environment.content_bucket, s3=clients.s3()
        )

    @cached_property
    def completions(self) -> CompletionService:
        from autotune_platform.completions.service import CompletionService

        return CompletionService(
            repository=self.completion_repository,
            erasers=[self.completion_repository],
            verdicts=self.verdicts,
            graders=self.graders,
        )

    @cached_property
    def open_batches(self) -> OpenBatches:
        from autotune_platform.completions.open_batches import OpenBatches

        repository = self.completion_repository
        return OpenBatches(repository=repository, due=repository.due)

    @cached_property
    def score_listing(self) -> ScoreListing:
        from autotune_platform.completions.listing import ScoreListing
        from autotune_platform.verdicts.walking import ScoreWalk

        return ScoreListing(
            walk=ScoreWalk(verdicts=self.verdicts, tasks=self.tasks),
            verdicts=self.verdicts,
            completions=self.completions,
            graders=self.graders,
        )

    @cached_property
    def content_forgetting(self) -> ContentForgetting:
        from autotune_platform.completions.forgetting import ContentForgetting
        from autotune_platform.completions.removed_content import RemovedContent

        content = RemovedContent(bucket=self.environment.content_bucket, s3=clients.s3())
        return ContentForgetting(content=content)

    @cached_property
    def calls(self) -> CallRepository:
        from autotune_platform.judging.http.repository import CallRepository

        return CallRepository(self.completions_table)

    @cached_property
    def callbacks(self) -> Callbacks:
        from autotune_platform.judging.http.callbacks import Callbacks

        return Callbacks(calls=self.calls, graders=self.graders)

    @cached_property
    def call_waits(self) -> CallWaits:
        from autotune_platform.judging.http.waiting import CallWaits

        return CallWaits(repository=self.calls, verdicts=self.verdicts)

    @cached_property
    def review_records(self) -> ReviewRecords:
        from autotune_platform.judging.human.records import ReviewRecords

        return ReviewRecords(self.completions_table)

    @cached_property
    def run_repository(self) -> RunRepository:
        from autotune_platform.runs.repository import RunRepository

        return RunRepository(self.completions_table)

    @cached_property
    def runs(self) -> RunService:
        from autotune_platform.runs.service import RunService

        return RunService(
            repository=self.run_repository, completions=self.completions, verdicts=self.verdicts
        )

    @cached_property
    def run_recorder(self) -> RunRecorder:
        from autotune_platform.runs.recorder import RunRecorder

        return RunRecorder(repository=self.run_repository)

    @cached_property
    def run_waits(self) -> RunWaits:
        from autotune_platform.judging.human.waiting import ReviewWaits
        from autotune_platform.runs.durable_wait import DurableWait
        from autotune_platform.runs.tokens import TaskTokens
        from autotune_platform.runs.waits import RunWaits

        review_waits = ReviewWaits(records=self.review_records, verdicts=self.verdicts)
        tokens = TaskTokens(stepfunctions=clients.stepfunctions())
        return RunWaits(
            repository=self.run_repository,
            verdicts=self.verdicts,
            wait=DurableWait(records=self.run_repository, tokens=tokens),
            words=[self.call_waits, review_waits],
        )

    @cached_property
    def writer(self) -> VerdictWriter:
        from autotune_platform.scoring.writing import VerdictWriter

        return VerdictWriter(
            completions=self.completions,
            verdicts=self.verdicts,
            statistics=self.statistics,
            recorder=self.run_recorder,
        )

    @cached_property
    def resolver(self) -> PanelResolver:
        from autotune_platform.scoring.resolving import PanelResolver

        return PanelResolver(
            verdicts=self.verdicts, panels=self.panels, reviews=self.review_records
        )

    @cached_property
    def callback_service(self) -> CallbackService:
        from autotune_platform.scoring.callbacks import CallbackService

        return CallbackService(
            callbacks=self.callbacks,
            batches=self.open_batches,
            completions=self.completions,
            verdicts=self.verdicts,
            writer=self.writer,
            resolver=self.resolver,
            waits=self.run_waits,
        )

    @cached_property
    def chunk_failure(self) -> ChunkFailure:
        from autotune_platform.scoring.failure import ChunkFailure

        return ChunkFailure(
            completions=self.completions,
            verdicts=self.verdicts,
            resolver=self.resolver,
            waits=self.call_waits,
            recorder=self.run_recorder,
        )
