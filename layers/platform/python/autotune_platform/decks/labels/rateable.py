"""Which samples of a deck people are to rate.

All but responses that were generated for an edit of the system prompt which is decided: they are in
no figure any more, so that labels of them would be work for nothing.
"""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass

from autotune.protocol.deck_samples import Split
from autotune_platform.decks.labels.pool import ListedSample, SamplePool
from autotune_platform.decks.prompting.repository import PromptEditRepository
from autotune_platform.runtime.parts import part


@dataclass(frozen=True)
class Rateable:
    """Samples that people are to rate.

    Attributes:
        halves: which they are, with the half that each is in.
        edits: edits of the prompt that are not decided, and that some were generated for.
        read: how many samples were read, those of decided edits among them, and ``through`` the
            latest of these.
    """

    halves: Mapping[str, Split]
    edits: Set[str]
    read: int
    through: str


@part
class RateableSamples:
    """Finds the samples that people are to rate."""

    pool: SamplePool
    edits: PromptEditRepository

    def of(
        self,
        deck_id: str,
        *,
        after: str | None = None,
        at_most: int | None = None,
        edits: Iterable[str] = (),
    ) -> Rateable:
        """Return those of a deck, the oldest first.

        Args:
            after: only those behind this sample.
            at_most: read so many; all without it.
            edits: of these it is said as well which are not decided.
        """
        listed = self.pool.listed(deck_id, after=after, at_most=at_most)
        undecided = self._undecided(deck_id, listed.values(), edits)
        halves = {id_: one.split for id_, one in listed.items() if _is_open(one, undecided)}
        return Rateable(halves, undecided, len(listed), max(listed, default=""))

    def among(self, deck_id: str, sample_ids: Iterable[str]) -> set[str]:
        """Return those of some samples of a deck."""
        samples = self.pool.get_many(deck_id, sample_ids)
        undecided = self._undecided(deck_id, samples.values())
        return {id_ for id_, one in samples.items() if _is_open(one, undecided)}

    def _undecided(
        self, deck_id: str, samples: Iterable[ListedSample], edits: Iterable[str] = ()
    ) -> Set[str]:
        found = {one.prompt_edit_id for one in samples if one.prompt_edit_id is not None}
        return self.edits.undecided(deck_id, found.union(edits))


def _is_open(sample: ListedSample, undecided: Set[str]) -> bool:
    return sample.prompt_edit_id is None or sample.prompt_edit_id in undecided
