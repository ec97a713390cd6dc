"""What a person is offered next, without reading all samples of a deck each time.

To say which sample comes first, all samples and all ratings of a grader are read: 20,000 items of a
large deck. So the first two hundred are dealt to a person at once and kept as their *hand*. Each
request reads it, the samples that came since, and the ratings of those that come first. The order
is the same as without: what came since takes its place among the rest, and what is beyond the hand
waits until it is dealt anew.

What others rated meanwhile is seen where it comes first, and counted once a hand is dealt anew: how
many are left, and with which probability one was drawn, may be behind by ``LONGEST``.
"""

import zlib
from collections.abc import Mapping, Sequence
from datetime import timedelta

from autotune.protocol.deck_samples import Split
from autotune_platform.decks.labels.choosing import draw_of, is_unrated, is_wanted
from autotune_platform.decks.labels.rateable import Rateable
from autotune_platform.decks.labels.repository import Rated
from autotune_platform.decks.models import DeckGrader
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.storage.table import Table

LONGEST = timedelta(minutes=15)
"""How long a hand is used."""
SHORTEST = timedelta(minutes=1)
"""How long one is used in which nothing is left."""
MOST = 200
"""How many samples a hand has."""
MOST_NEW = 200
"""With more samples that came since, a hand is dealt anew."""
_HAND = "hand#"


class Card(FrozenModel):
    """A sample of a hand; ``unrated`` is whether it was not drawn for anybody yet when dealt."""

    sample_id: str
    split: Split
    unrated: bool


class Hand(FrozenModel):
    """The samples that come first for a person, in order.

    Attributes:
        made_at: Unix seconds.
        through: the latest sample that there was.
        shared: the grader's settings by which samples go to several.
        wanted: how many samples the person may rate in all, beyond these as well.
        unrated: how many samples were not drawn for anybody yet, by half.
        edits: edits of the system prompt that samples of the deck were generated for, and that
            nobody had decided on: once somebody has, these are dealt no more.
    """

    organization_id: str
    made_at: int
    through: str
    shared: tuple[float, int]
    cards: Sequence[Card]
    wanted: int
    unrated: Mapping[Split, int]
    edits: Sequence[str] = ()

    @property
    def has_more(self) -> bool:
        """Whether there are samples behind it."""
        return self.wanted > len(self.cards)

    def holds(self, grader: DeckGrader, *, now: int) -> bool:
        """Return whether it can be played from yet."""
        is_young = now - self.made_at < LONGEST.total_seconds()
        return is_young and self.shared == settings_of(grader)

    def without(self, done: int) -> "Hand":
        """Return it without so many of its first."""
        gone = self.cards[:done]
        unrated = dict(self.unrated)
        for card in gone:
            unrated[card.split] -= card.unrated
        return self.model_copy(
            update={
                "cards": self.cards[done:],
                "wanted": self.wanted - done,
                "unrated": unrated,
            }
        )


def settings_of(grader: DeckGrader) -> tuple[float, int]:
    """Return by what samples of a grader go to several people."""
    return grader.shared_share, grader.shared_raters


def dealt(
    grader: DeckGrader,
    rater: str,
    *,
    samples: Rateable,
    rated: Mapping[str, Rated],
    now: int,
) -> Hand:
    """Return a person's hand, from all samples to rate of a deck and all ratings of a grader."""
    halves = samples.halves
    wanted: list[tuple[bool, float, str]] = []
    unrated: dict[Split, int] = {"holdout": 0, "development": 0}
    for sample_id, split in halves.items():
        by = rated.get(sample_id)
        unrated[split] += is_unrated(by)
        if is_wanted(grader, rater, sample_id, by):
            wanted.append((*draw_of(grader, split, sample_id), sample_id))
    wanted.sort()
    first = [sample_id for _, _, sample_id in wanted[:MOST]]
    return Hand(
        organization_id=grader.organization_id,
        made_at=now,
        through=samples.through,
        shared=settings_of(grader),
        cards=[
            Card(sample_id=one, split=halves[one], unrated=is_unrated(rated.get(one)))
            for one in first
        ],
        wanted=len(wanted),
        unrated=unrated,
        edits=sorted(samples.edits),
    )


class HandStore:
    """Keeps hands in the table ``decks``, in the partition of their grader."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self, grader_id: str, rater: str) -> Hand | None:
        """Return what was dealt to a person last."""
        item = self._table.get(grader_id, _HAND + rater)
        return Hand.model_validate_json(zlib.decompress(item["hand"])) if item else None

    def put(self, grader_id: str, rater: str, hand: Hand) -> None:
        """Keep what was dealt to a person; it goes by itself."""
        self._table.put(
            {
                "pk": grader_id,
                "sk": _HAND + rater,
                "organization_id": hand.organization_id,
                "hand": zlib.compress(hand.model_dump_json().encode()),
                "expires_at": hand.made_at + int(LONGEST.total_seconds()),
            }
        )
