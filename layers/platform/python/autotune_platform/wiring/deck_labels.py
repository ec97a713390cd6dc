"""Parts by which people rate decks' samples, and what is measured with their ratings."""

from functools import cached_property

from autotune_platform.decks.external_ids import ExternalIds
from autotune_platform.decks.grader_repository import DeckGraderRepository
from autotune_platform.decks.labels.adjudicating import AdjudicationService
from autotune_platform.decks.labels.drifting import DriftWatch
from autotune_platform.decks.labels.exporting import LabelExport
from autotune_platform.decks.labels.graders import LabelledGraders
from autotune_platform.decks.labels.hands import HandStore
from autotune_platform.decks.labels.importing import RatingImport
from autotune_platform.decks.labels.inbox import LabelInbox
from autotune_platform.decks.labels.listing import RatingList
from autotune_platform.decks.labels.of_prompt import PromptSamples
from autotune_platform.decks.labels.offering import LabelOffers
from autotune_platform.decks.labels.pool import SamplePool
from autotune_platform.decks.labels.progress import LabelProgress
from autotune_platform.decks.labels.prompt_truths import PromptTruths
from autotune_platform.decks.labels.rateable import RateableSamples
from autotune_platform.decks.labels.rating import RatingService
from autotune_platform.decks.labels.results import JudgeResults
from autotune_platform.decks.prompting.repository import PromptEditRepository
from autotune_platform.decks.repository import DeckRepository
from autotune_platform.decks.results import ResultRepository
from autotune_platform.wiring.access import ApiParts
from autotune_platform.wiring.deck_drift import drift_watch
from autotune_platform.wiring.decks import DeckParts, SampleParts


class LabelParts(DeckParts):
    """What ratings and results are read from."""

    @cached_property
    def labelled_graders(self) -> LabelledGraders:
        return LabelledGraders(decks=self.decks, graders=DeckGraderRepository(self.decks_table))

    @cached_property
    def judge_results(self) -> JudgeResults:
        return JudgeResults(results=ResultRepository(self.decks_table))

    @cached_property
    def drift_watch(self) -> DriftWatch:
        return drift_watch(self.decks_table, self.registry_table)

    @cached_property
    def prompt_samples(self) -> PromptSamples:
        return PromptSamples(decks=DeckRepository(self.decks_table), pool=self.sample_pool)

    @cached_property
    def prompt_truths(self) -> PromptTruths:
        return PromptTruths(labels=self.labels, of_prompt=self.prompt_samples)

    @cached_property
    def sample_pool(self) -> SamplePool:
        return SamplePool(self.decks_table)


class DeckFeedbackParts(ApiParts, LabelParts, SampleParts):
    """What people rate with."""

    @cached_property
    def ratings(self) -> RatingService:
        return RatingService(
            graders=self.labelled_graders,
            samples=self.sample_pool,
            labels=self.labels,
            results=self.judge_results,
            held_out=self.held_out,
            watch=self.drift_watch,
        )

    @cached_property
    def rating_import(self) -> RatingImport:
        return RatingImport(
            graders=self.labelled_graders,
            samples=self.sample_pool,
            external_ids=ExternalIds(self.decks_table),
            labels=self.labels,
            watch=self.drift_watch,
        )

    @cached_property
    def label_offers(self) -> LabelOffers:
        return LabelOffers(
            decks=DeckRepository(self.decks_table),
            graders=DeckGraderRepository(self.decks_table),
        )

    @cached_property
    def rating_list(self) -> RatingList:
        return RatingList(graders=self.labelled_graders, labels=self.labels)

    @cached_property
    def label_export(self) -> LabelExport:
        return LabelExport(
            graders=self.labelled_graders,
            labels=self.labels,
            pool=self.sample_pool,
            results=self.judge_results,
            held_out=self.held_out,
        )

    @cached_property
    def label_inbox(self) -> LabelInbox:
        return LabelInbox(
            graders=self.labelled_graders,
            pool=self.sample_pool,
            rateable=self.rateable_samples,
            samples=self.sample_repository,
            labels=self.labels,
            hands=HandStore(self.decks_table),
        )

    @cached_property
    def rateable_samples(self) -> RateableSamples:
        return RateableSamples(pool=self.sample_pool, edits=PromptEditRepository(self.decks_table))

    @cached_property
    def label_progress(self) -> LabelProgress:
        return LabelProgress(
            graders=self.labelled_graders, rateable=self.rateable_samples, labels=self.labels
        )

    @cached_property
    def adjudications(self) -> AdjudicationService:
        return AdjudicationService(
            graders=self.labelled_graders,
            samples=self.sample_pool,
            labels=self.labels,
            watch=self.drift_watch,
        )
