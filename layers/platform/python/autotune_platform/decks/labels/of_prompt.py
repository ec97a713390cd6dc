"""Samples that were answered under one system prompt of their deck.

Versions with the same prompt, by its hash, count as one: a judge is asked alike about their
samples. What was generated for an edit of the prompt is among none of them: no user was answered
so, and a model of the edit's would move the figures of those that did. The edit alone measures it.
"""

from collections.abc import Iterable

from autotune_platform.decks.labels.pool import PooledSample, SamplePool
from autotune_platform.decks.prompts import prompt_hash
from autotune_platform.decks.repository import DeckRepository
from autotune_platform.runtime.errors import InvalidRequestError
from autotune_platform.runtime.parts import part


@part
class PromptSamples:
    """Finds the samples of a version of a deck's system prompt."""

    decks: DeckRepository
    pool: SamplePool

    def version(self, organization_id: str, deck_id: str, version: int | None) -> int:
        """Return the number of a version of a deck: the current one if none is named.

        Raises:
            NotFoundError: there is no such deck, or it is another organisation's.
            InvalidRequestError: the deck has no such version.
        """
        deck = self.decks.get_of(organization_id, deck_id)
        if version is not None and version > deck.versions:
            raise InvalidRequestError.of_field(
                "deckVersion", f"at most {deck.versions}, the latest"
            )
        return version or deck.version

    def among(
        self, organization_id: str, deck_id: str, version: int, sample_ids: Iterable[str]
    ) -> set[str]:
        """Return those of some samples that have the prompt of a version, no generated ones."""
        samples = self.pool.get_many(deck_id, sample_ids)
        return self.of(organization_id, deck_id, version, samples.values())

    def of(
        self, organization_id: str, deck_id: str, version: int, samples: Iterable[PooledSample]
    ) -> set[str]:
        """Return the ids of those samples that have the prompt of a version, no generated ones."""
        some = [one for one in samples if one.prompt_edit_id is None]
        numbers = {version, *(one.deck_version for one in some)}
        if len(numbers) == 1:
            return {one.id for one in some}
        hashes = {
            number: prompt_hash(organization_id, text)
            for number, text in self.decks.prompts(deck_id, numbers).items()
        }
        wanted = hashes.get(version)
        return {
            one.id
            for one in some
            if one.deck_version == version or hashes.get(one.deck_version, "") == wanted
        }
