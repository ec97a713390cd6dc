"""Parts that measure how far judges agree with people.

numpy is in a layer of the functions that compute, and is imported by their first request.
"""

from functools import cached_property
from typing import TYPE_CHECKING

from autotune_platform.decks.grader_repository import DeckGraderRepository
from autotune_platform.decks.labels.disagreements import DisagreementService
from autotune_platform.decks.results import ResultRepository
from autotune_platform.wiring.access import ApiParts
from autotune_platform.wiring.deck_labels import LabelParts

if TYPE_CHECKING:
    from autotune_platform.decks.labels.agreement import AgreementService
    from autotune_platform.decks.labels.means import MeanService
    from autotune_platform.decks.labels.patterns import PatternService
    from autotune_platform.decks.publishing.service import PublishingService


class DeckMeasureParts(ApiParts, LabelParts):
    """What shows agreement, disagreements and patterns, and publishes with what was measured."""

    @cached_property
    def agreements(self) -> "AgreementService":
        from autotune_platform.decks.labels.agreement import AgreementService  # noqa: PLC0415

        return AgreementService(
            graders=self.labelled_graders,
            labels=self.labels,
            pool=self.sample_pool,
            results=self.judge_results,
            of_prompt=self.prompt_samples,
            held_out=self.held_out,
            watch=self.drift_watch,
            figures=self.deck_figures,
        )

    @cached_property
    def disagreements(self) -> DisagreementService:
        return DisagreementService(
            graders=self.labelled_graders,
            labels=self.labels,
            pool=self.sample_pool,
            results=self.judge_results,
        )

    @cached_property
    def patterns(self) -> "PatternService":
        from autotune_platform.decks.labels.patterns import PatternService  # noqa: PLC0415

        return PatternService(
            graders=self.labelled_graders,
            labels=self.labels,
            pool=self.sample_pool,
            results=self.judge_results,
        )

    @cached_property
    def means(self) -> "MeanService":
        from autotune_platform.decks.labels.means import MeanService  # noqa: PLC0415

        return MeanService(
            graders=self.labelled_graders,
            labels=self.labels,
            pool=self.sample_pool,
            of_prompt=self.prompt_samples,
            results=ResultRepository(self.decks_table),
            held_out=self.held_out,
        )

    @cached_property
    def publishing(self) -> "PublishingService":
        from autotune_platform.decks.publishing.service import PublishingService  # noqa: PLC0415
        from autotune_platform.graders.service import GraderService  # noqa: PLC0415

        return PublishingService(
            decks=self.decks,
            deck_graders=self.deck_graders,
            repository=DeckGraderRepository(self.decks_table),
            truths=self.prompt_truths,
            results=ResultRepository(self.decks_table),
            held_out=self.held_out,
            graders=GraderService(table=self.registry_table, secrets=self.secrets),
            connections=self.deck_graders.connections,
            watch=self.drift_watch,
        )
