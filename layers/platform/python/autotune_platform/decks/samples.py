"""Reading and deleting the samples of decks."""

from collections.abc import Sequence

from autotune.protocol.deck_samples import Split
from autotune.protocol.ids import is_id
from autotune_platform.access.models import Caller
from autotune_platform.decks.fixing.example_erasing import ExampleEraser
from autotune_platform.decks.labels.erasing import LabelEraser
from autotune_platform.decks.models import Sample, WholeSample
from autotune_platform.decks.results import ResultRepository
from autotune_platform.decks.sample_repository import SampleRepository
from autotune_platform.decks.service import DeckService
from autotune_platform.runtime.errors import NotFoundError
from autotune_platform.runtime.parts import part
from autotune_platform.storage.cursors import decode_cursor, encode_cursor, invalid_cursor


@part
class SampleService:
    """Keeps the samples of an organisation's decks."""

    decks: DeckService
    repository: SampleRepository
    results: ResultRepository
    labels: LabelEraser
    examples: ExampleEraser

    def get(self, caller: Caller, deck_id: str, sample_id: str) -> WholeSample:
        """Return a sample with its texts.

        Raises:
            NotFoundError: there is no such deck or sample, or it is another organisation's.
        """
        sample = self._require(caller, deck_id, sample_id)
        texts = self.repository.texts([sample]).get(sample.id)
        if texts is None:
            raise _missing(sample_id)
        return WholeSample(sample=sample, texts=texts)

    def list(
        self,
        caller: Caller,
        deck_id: str,
        *,
        split: Split | None,
        model: str | None,
        deck_version: int | None = None,
        external_id: str | None = None,
        limit: int,
        next_token: str | None,
    ) -> tuple[Sequence[Sample], str | None]:
        """Return a page of a deck's samples, newest first, without their texts.

        Args:
            external_id: the one sample with this id, which is read without a walk.

        Raises:
            NotFoundError: there is no such deck, or it is another organisation's.
            InvalidRequestError: ``next_token`` is not from this list.
        """
        self.decks.require(caller, deck_id)
        below = None
        if next_token is not None:
            (below,) = decode_cursor(next_token, parts=1)
            if not is_id("smp", below):
                raise invalid_cursor()
        equal = {"split": split, "model": model, "deck_version": deck_version}
        wanted = {name: value for name, value in equal.items() if value is not None}
        if external_id is not None:
            named = self.repository.external_ids.find(deck_id, [external_id]).values()
            samples = [one.sample for one in named if below is None or one.sample.id < below]
            return [one for one in samples if wanted.items() <= one.model_dump().items()], None
        found, last = self.repository.page(deck_id, limit=limit, below=below, equal=wanted)
        return found, encode_cursor(last) if last else None

    def delete(self, caller: Caller, deck_id: str, sample_id: str) -> None:
        """Delete a sample with its texts, what was said of it, and where it is an example.

        Samples that were generated from its input go with it.

        Raises:
            NotFoundError: there is no such deck or sample, or it is another organisation's.
            UnavailableError: the table is busy; deleting again is safe.
        """
        self.erase(self._require(caller, deck_id, sample_id))

    def erase(self, sample: Sample) -> None:
        """Erase a sample of any organisation, what was made of it and said of it; again is fine.

        Raises:
            UnavailableError: the table is busy; erasing again is safe.
        """
        for made in self.repository.made_from(sample):  # they have its input
            self.erase(made)
        self._delete_what_was_said(sample)
        self.repository.delete(sample)
        # A run or a person that knew it still may have stored one more in between.
        self._delete_what_was_said(sample)

    def _delete_what_was_said(self, sample: Sample) -> None:
        self.results.delete_of_sample(sample.id)
        self.labels.erase(sample.deck_id, sample.id)
        if sample.split == "development":  # what is held out is no example
            self.examples.erase(sample.deck_id, sample.id)

    def _require(self, caller: Caller, deck_id: str, sample_id: str) -> Sample:
        self.decks.require(caller, deck_id)
        found = self.repository.headers(deck_id, [sample_id]).get(sample_id)
        if found is None:
            raise _missing(sample_id)
        return found


def _missing(sample_id: str) -> NotFoundError:
    return NotFoundError(f"no sample {sample_id}")
