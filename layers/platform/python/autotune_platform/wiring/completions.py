"""Parts that read completions and verdicts."""

from collections.abc import Sequence
from functools import cached_property

from autotune_platform.budgets.repository import BudgetRepository
from autotune_platform.budgets.slots import Slots
from autotune_platform.budgets.waiting import WaitingShares
from autotune_platform.completions.open_batches import OpenBatches
from autotune_platform.completions.propagating import GenerationPropagation
from autotune_platform.completions.repository import CompletionRepository
from autotune_platform.completions.service import CompletionService
from autotune_platform.judging.http.erasing import AnswerEraser
from autotune_platform.judging.http.repository import CallRepository
from autotune_platform.judging.human.erasing import ExplanationEraser
from autotune_platform.judging.human.records import ReviewRecords
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment.completions import ContentEnvironment, WaitingEnvironment
from autotune_platform.storage.erasing import CompletionEraser
from autotune_platform.storage.table import Table
from autotune_platform.verdicts.listing import DecisionLists
from autotune_platform.verdicts.panels import PanelRecords
from autotune_platform.verdicts.repository import VerdictRepository
from autotune_platform.verdicts.score_index import ScoreIndex
from autotune_platform.verdicts.service import VerdictService
from autotune_platform.wiring.access import ApiParts, RegistryParts
from autotune_platform.wiring.graders import GraderParts


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
            panels=self.panels,
            lists=DecisionLists(self.completions_table),
        )


class ReviewRecordParts(VerdictParts):
    """What people were asked and answered."""

    @cached_property
    def review_records(self) -> ReviewRecords:
        return ReviewRecords(self.completions_table)


class ErasureParts(ReviewRecordParts):
    """What erases all that may quote a text that is gone."""

    @cached_property
    def erasers(self) -> Sequence[CompletionEraser]:
        return [
            self.verdicts,
            ExplanationEraser(records=self.review_records, verdicts=self.verdicts),
            AnswerEraser(calls=CallRepository(self.completions_table), verdicts=self.verdicts),
        ]


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
            verdicts=self.verdicts,
            graders=self.graders,
        )

    @cached_property
    def propagation(self) -> GenerationPropagation:
        return GenerationPropagation(repository=self.completion_repository, verdicts=self.verdicts)

    @cached_property
    def open_batches(self) -> OpenBatches:
        return OpenBatches(repository=self.completion_repository)


class CompletionReadParts(ApiParts, CompletionParts):
    """What reads where completions and batches stand."""

    environment: ContentEnvironment


class WaitingReadParts(CompletionReadParts):
    """What reads it, and waits for news."""

    environment: WaitingEnvironment

    @cached_property
    def waiting(self) -> WaitingShares:
        table = Table(self.environment.budgets_table, clients.dynamodb())
        return WaitingShares(
            slots=Slots(budgets=BudgetRepository(table)),
            of="reads",
            most_of_all=self.environment.waiting_reads,
        )
