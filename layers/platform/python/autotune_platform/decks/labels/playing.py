"""Which sample of a hand comes first, by who rated what until now."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from autotune.protocol.deck_samples import Split
from autotune_platform.decks.labels.choosing import Candidate, draw_of, is_unrated, is_wanted
from autotune_platform.decks.labels.hands import Card, Hand
from autotune_platform.decks.labels.repository import LabelRepository, Rated
from autotune_platform.decks.models import DeckGrader
from autotune_platform.runtime.grouping import groups

VERIFIED = 50
"""Of how many samples at a time ratings are read."""
TRIMMED = 25
"""With so many at its beginning that are done, a hand is stored without them."""


class Play:
    """One look at a hand: which sample comes first that a person may rate now.

    Args:
        newer: samples that came since it was dealt, with their halves.
        held: samples that others are at.
    """

    def __init__(
        self,
        labels: LabelRepository,
        grader: DeckGrader,
        rater: str,
        hand: Hand,
        newer: Mapping[str, Split],
        held: frozenset[str],
    ) -> None:
        self._labels = labels
        self._grader = grader
        self._rater = rater
        self._held = held
        self.hand = hand
        self._cards = self._merged(newer)
        self._unrated = {
            split: count + sum(one == split for one in newer.values())
            for split, count in hand.unrated.items()
        }
        self._wanted = hand.wanted + len(newer)
        self._known: dict[str, Rated | None] = {}

    @property
    def left(self) -> int:
        """How many samples are left for the person, as far as is known."""
        return self._wanted

    def candidates(self, *, own: Collection[str], skip: Collection[str]) -> Iterator[Candidate]:
        """Yield what the person may rate, what they hold first, and the others in order."""
        mine = [one for one in self._cards if one.sample_id in own]
        others = [one for one in self._cards if one.sample_id not in own]
        self._verify([*mine, *others[:VERIFIED]])
        yield from self._offered(mine, skip)
        for some in groups(others, VERIFIED):
            self._verify(some)
            yield from self._offered(some, skip)

    def trimmed(self) -> Hand | None:
        """Return the hand without what is done at its beginning; None where that is little."""
        done = 0
        for card in self.hand.cards:
            if card.sample_id not in self._known or self._may_be_rated(card):
                break
            done += 1
        return self.hand.without(done) if done >= TRIMMED else None

    def _merged(self, newer: Mapping[str, Split]) -> Sequence[Card]:
        """Return the hand with what came since; what belongs behind the hand waits there."""
        if not newer:
            return self.hand.cards
        cards = [
            *self.hand.cards,
            *(Card(sample_id=id_, split=split, unrated=True) for id_, split in newer.items()),
        ]
        places = {card.sample_id: self._place(card) for card in cards}
        cards.sort(key=lambda card: places[card.sample_id])
        if not self.hand.has_more:
            return cards
        last = self.hand.cards[-1].sample_id if self.hand.cards else None
        return [card for card in cards if last and places[card.sample_id] <= places[last]]

    def _place(self, card: Card) -> tuple[bool, float, str]:
        return (*draw_of(self._grader, card.split, card.sample_id), card.sample_id)

    def _may_be_rated(self, card: Card) -> bool:
        return is_wanted(self._grader, self._rater, card.sample_id, self._known.get(card.sample_id))

    def _verify(self, cards: Iterable[Card]) -> None:
        """Read who rated some samples, and count those off that are done."""
        new = [one for one in cards if one.sample_id not in self._known]
        found = self._labels.rated_of(self._grader.id, [one.sample_id for one in new])
        for one in new:
            self._known[one.sample_id] = found.get(one.sample_id)
            if one.sample_id in self._held or not self._may_be_rated(one):
                self._wanted -= 1
            if one.unrated and not is_unrated(found.get(one.sample_id)):
                self._unrated[one.split] -= 1

    def _offered(self, cards: Iterable[Card], skip: Collection[str]) -> Iterator[Candidate]:
        for card in cards:
            sample_id = card.sample_id
            if sample_id in self._held or sample_id in skip or not self._may_be_rated(card):
                continue
            by = self._known[sample_id]
            if is_unrated(by):
                yield Candidate(sample_id, "random", 1 / max(1, self._unrated[card.split]))
            else:
                # Drawn by the share that goes to several, of samples that came as they came.
                assert by is not None, "somebody rated it"
                yield Candidate(sample_id, by.selection, self._grader.shared_share)
