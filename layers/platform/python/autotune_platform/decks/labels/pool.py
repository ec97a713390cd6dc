"""The samples of a deck and their halves, without their texts."""

from collections.abc import Iterable
from itertools import islice

from autotune.protocol.deck_samples import Split
from autotune_platform.decks.items import SAMPLE, model_from
from autotune_platform.runtime.errors import NotFoundError
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.storage.table import Table

_ATTRIBUTES = ("id", "split", "group_key", "deck_version", "prompt_edit_id")


class ListedSample(FrozenModel):
    """What is listed of a sample.

    Attributes:
        prompt_edit_id: the edit of the system prompt that it was generated for, if it was.
    """

    split: Split
    prompt_edit_id: str | None = None


class PooledSample(ListedSample):
    """What never changes of a sample, and ratings go by."""

    id: str
    group_key: str
    deck_version: int


class Excerpts(FrozenModel):
    """How what was asked last begins, and the answer."""

    id: str
    input_excerpt: str
    output_excerpt: str


class SampleTraits(FrozenModel):
    """What may explain an error of a judge; no judge is shown the model."""

    id: str
    model: str | None = None
    output_characters: int
    output_excerpt: str


class SamplePool:
    """Reads which samples a deck has, in the table ``decks``."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def halves(self, deck_id: str, *, after: str | None = None) -> dict[str, Split]:
        """Return samples of a deck, with the half that each is in, the oldest first.

        Args:
            after: only those behind this one.
        """
        return {id_: one.split for id_, one in self.listed(deck_id, after=after).items()}

    def listed(
        self, deck_id: str, *, after: str | None = None, at_most: int | None = None
    ) -> dict[str, ListedSample]:
        """Return samples of a deck, the oldest first.

        Args:
            after: only those behind this one.
            at_most: so many; all without it.
        """
        items = self._table.items(
            deck_id,
            starting=SAMPLE,
            after={"pk": deck_id, "sk": SAMPLE + after} if after else None,
            limit=at_most,
            attributes=("sk", *ListedSample.model_fields),
        )
        found = islice(items, at_most)
        return {item["sk"].removeprefix(SAMPLE): model_from(item, ListedSample) for item in found}

    def get_many(self, deck_id: str, sample_ids: Iterable[str]) -> dict[str, PooledSample]:
        """Return those samples that the deck has, by id."""
        keys = ((deck_id, SAMPLE + sample_id) for sample_id in sample_ids)
        found = self._table.get_many(keys, attributes=_ATTRIBUTES).values()
        samples = (model_from(item, PooledSample) for item in found)
        return {sample.id: sample for sample in samples}

    def not_generated(self, deck_id: str, sample_ids: Iterable[str]) -> set[str]:
        """Return those samples that the deck has, generated for no edit of a system prompt."""
        found = self.get_many(deck_id, sample_ids).values()
        return {one.id for one in found if one.prompt_edit_id is None}

    def external_ids(self, deck_id: str, sample_ids: Iterable[str]) -> dict[str, str]:
        """Return the callers' own ids of those samples that have one, by id."""
        keys = ((deck_id, SAMPLE + sample_id) for sample_id in sample_ids)
        found = self._table.get_many(keys, attributes=("id", "external_id")).values()
        return {item["id"]: item["external_id"] for item in found if item.get("external_id")}

    def excerpts(self, deck_id: str, sample_ids: Iterable[str]) -> dict[str, Excerpts]:
        """Return how texts begin, of those samples that the deck has, by id."""
        keys = ((deck_id, SAMPLE + sample_id) for sample_id in sample_ids)
        found = self._table.get_many(keys, attributes=tuple(Excerpts.model_fields)).values()
        excerpts = (model_from(item, Excerpts) for item in found)
        return {one.id: one for one in excerpts}

    def traits(self, deck_id: str, sample_ids: Iterable[str]) -> dict[str, SampleTraits]:
        """Return what may explain errors, of those samples that the deck has, by id."""
        keys = ((deck_id, SAMPLE + sample_id) for sample_id in sample_ids)
        found = self._table.get_many(keys, attributes=tuple(SampleTraits.model_fields)).values()
        traits = (model_from(item, SampleTraits) for item in found)
        return {one.id: one for one in traits}

    def get(self, deck_id: str, sample_id: str) -> PooledSample:
        """Return a sample of a deck.

        Raises:
            NotFoundError: the deck has none of this id.
        """
        found = self.get_many(deck_id, [sample_id]).get(sample_id)
        if found is None:
            raise NotFoundError(f"no sample {sample_id} in deck {deck_id}")
        return found
