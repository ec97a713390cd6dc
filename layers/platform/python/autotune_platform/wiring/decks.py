"""Parts that look after decks."""

from functools import cached_property
from typing import TYPE_CHECKING

from autotune_platform.decks.capture.settings import CaptureRepository, CaptureService
from autotune_platform.decks.erasing import DeckErasure
from autotune_platform.decks.figures import FiguresRepository
from autotune_platform.decks.fixing.example_erasing import ExampleEraser
from autotune_platform.decks.fixing.proposals import ProposalRepository
from autotune_platform.decks.fixing.repository import EditRepository
from autotune_platform.decks.grader_repository import DeckGraderRepository
from autotune_platform.decks.graders import DeckGraderService
from autotune_platform.decks.held_out import HeldOut
from autotune_platform.decks.labels.erasing import LabelEraser
from autotune_platform.decks.labels.pool import SamplePool
from autotune_platform.decks.labels.repository import LabelRepository
from autotune_platform.decks.look_repository import LookRepository
from autotune_platform.decks.prompt_index import PromptIndex
from autotune_platform.decks.publishing.panel import DeckPanel
from autotune_platform.decks.repository import DeckRepository
from autotune_platform.decks.results import ResultRepository
from autotune_platform.decks.sample_intake import SampleIntake
from autotune_platform.decks.sample_repository import SampleRepository
from autotune_platform.decks.sample_requests import SampleRequests
from autotune_platform.decks.samples import SampleService
from autotune_platform.decks.service import DeckService
from autotune_platform.decks.shared_looks import SharedLooks
from autotune_platform.ledger.connection_repository import ConnectionRepository
from autotune_platform.ledger.usable_connections import UsableConnections
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment.decks import DeckEnvironment, SampleEnvironment
from autotune_platform.storage.purging import OrganizationItems
from autotune_platform.storage.table import Table
from autotune_platform.wiring.access import ApiParts, RegistryParts
from autotune_platform.wiring.tasks import TaskParts

if TYPE_CHECKING:
    from autotune_platform.decks.prompting.repository import PromptEditRepository
    from autotune_platform.graders.example_erasing import RegisteredExamples


class DeckParts(RegistryParts):
    """Decks, their versions, and their graders with theirs."""

    environment: DeckEnvironment

    @cached_property
    def decks_table(self) -> Table:
        return Table(self.environment.decks_table, clients.dynamodb())

    @cached_property
    def decks(self) -> DeckService:
        def prompt_edits() -> "PromptEditRepository":
            from autotune_platform.decks.prompting.repository import (  # noqa: PLC0415
                PromptEditRepository,
            )

            return PromptEditRepository(self.decks_table)

        return DeckService(
            repository=DeckRepository(self.decks_table),
            figures=self.deck_figures,
            made_prompt_edits=prompt_edits,
        )

    @cached_property
    def deck_figures(self) -> FiguresRepository:
        return FiguresRepository(self.decks_table)

    @cached_property
    def capture(self) -> CaptureService:
        return CaptureService(repository=CaptureRepository(self.decks_table))

    @cached_property
    def held_out(self) -> HeldOut:
        return HeldOut(repository=LookRepository(self.decks_table), shared=self.shared_looks)

    @cached_property
    def shared_looks(self) -> SharedLooks:
        return SharedLooks(repository=LookRepository(self.decks_table), labels=self.labels)

    @cached_property
    def labels(self) -> LabelRepository:
        return LabelRepository(self.decks_table)

    @cached_property
    def example_eraser(self) -> ExampleEraser:
        return ExampleEraser(
            graders=DeckGraderRepository(self.decks_table),
            edits=EditRepository(self.decks_table),
            proposals=ProposalRepository(self.decks_table),
            samples=SamplePool(self.decks_table),
            made_registered=self._registered_examples,
        )

    def _registered_examples(self) -> "RegisteredExamples":
        from autotune_platform.graders.example_erasing import RegisteredExamples  # noqa: PLC0415
        from autotune_platform.graders.repository import GraderRepository  # noqa: PLC0415

        return RegisteredExamples(GraderRepository(self.registry_table))

    @cached_property
    def deck_graders(self) -> DeckGraderService:
        return DeckGraderService(
            decks=self.decks,
            repository=DeckGraderRepository(self.decks_table),
            samples=SamplePool(self.decks_table),
            examples=self.example_eraser,
            connections=UsableConnections(repository=ConnectionRepository(self.registry_table)),
        )


class SampleParts(DeckParts):
    """Samples of decks."""

    environment: SampleEnvironment

    @cached_property
    def sample_repository(self) -> SampleRepository:
        return SampleRepository(
            table=self.decks_table, bucket=self.environment.content_bucket, s3=clients.s3()
        )

    @cached_property
    def deck_results_repository(self) -> ResultRepository:
        return ResultRepository(self.decks_table)

    @cached_property
    def samples(self) -> SampleService:
        return SampleService(
            decks=self.decks,
            repository=self.sample_repository,
            results=self.deck_results_repository,
            labels=LabelEraser(graders=DeckGraderRepository(self.decks_table), labels=self.labels),
            examples=self.example_eraser,
        )

    @cached_property
    def sample_intake(self) -> SampleIntake:
        return SampleIntake(
            decks=self.decks,
            deck_repository=DeckRepository(self.decks_table),
            repository=self.sample_repository,
            requests=SampleRequests(self.decks_table),
        )


class DeckErasureParts(SampleParts):
    """What erases deleted decks."""

    @cached_property
    def deck_erasure(self) -> DeckErasure:
        return DeckErasure(
            repository=DeckRepository(self.decks_table),
            prompts=PromptIndex(self.decks_table),
            table=self.decks_table,
            items=OrganizationItems(table=self.environment.decks_table, client=clients.dynamodb()),
            registered=self._registered_examples(),
            bucket=self.environment.content_bucket,
            s3=clients.s3(),
        )


class DeckApiParts(ApiParts, DeckParts, TaskParts):
    """What serves decks, their versions and their graders, and makes tasks of them."""

    @cached_property
    def deck_panel(self) -> DeckPanel:
        return DeckPanel(
            decks=self.decks, graders=DeckGraderRepository(self.decks_table), tasks=self.tasks
        )
