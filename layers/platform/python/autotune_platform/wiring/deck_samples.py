"""Parts that take in samples of decks with what people said of them, and show them."""

from functools import cached_property

from autotune_platform.decks.external_ids import ExternalIds
from autotune_platform.decks.grader_repository import DeckGraderRepository
from autotune_platform.decks.labels.graders import LabelledGraders
from autotune_platform.decks.labels.importing import RatingImport
from autotune_platform.decks.labels.labelled_samples import LabelledUpload
from autotune_platform.decks.labels.pool import SamplePool
from autotune_platform.wiring.access import ApiParts
from autotune_platform.wiring.deck_drift import drift_watch
from autotune_platform.wiring.decks import SampleParts


class SampleApiParts(ApiParts, SampleParts):
    """What takes in samples of decks, and shows them."""

    @cached_property
    def labelled_upload(self) -> LabelledUpload:
        graders = DeckGraderRepository(self.decks_table)
        ratings = RatingImport(
            graders=LabelledGraders(decks=self.decks, graders=graders),
            samples=SamplePool(self.decks_table),
            external_ids=ExternalIds(self.decks_table),
            labels=self.labels,
            watch=drift_watch(self.decks_table, self.registry_table),
        )
        return LabelledUpload(intake=self.sample_intake, graders=graders, ratings=ratings)
