"""What counts as true of a sample, from what people said of it.

The adjudicated rating, else the median of the blind ones, else the only one. Where the middle lies
between two levels, a gap of 2 or more goes to a person who has seen neither; a gap of 1 is settled
by a keyed hash, since the lower one would be too low on average (on real data, 2.91 where the
median is 3.41).
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

GAP_TO_ADJUDICATE = 2


class DoesNotApply(StrEnum):
    """Said instead of a level."""

    DOES_NOT_APPLY = "does_not_apply"


DOES_NOT_APPLY = DoesNotApply.DOES_NOT_APPLY
Rating = int | DoesNotApply
"""A level from -3 to +3, or that the question does not apply to the sample."""


class Settled(StrEnum):
    """How a sample's truth was found, or why there is none yet."""

    ADJUDICATED = "adjudicated"
    MEDIAN = "median"
    ONE_RATING = "one_rating"
    KEYED_HASH = "keyed_hash"
    """Between two levels next to each other."""
    TO_ADJUDICATE = "to_adjudicate"
    """Ratings are too far apart; a person decides, without seeing them."""
    NO_RATING = "no_rating"


@dataclass(frozen=True, slots=True)
class GroundTruth:
    """What counts as true.

    Attributes:
        rating: A level, that the question does not apply, or None where it is not settled.
        how: How it was settled, or why it is not.
    """

    rating: Rating | None
    how: Settled

    @property
    def level(self) -> int | None:
        """Return the level, or None where there is none."""
        return None if isinstance(self.rating, DoesNotApply) else self.rating


def ground_truth(
    ratings: Sequence[Rating],
    *,
    adjudicated: Rating | None = None,
    key: bytes,
    sample_id: str,
) -> GroundTruth:
    """Return what counts as true of a sample.

    "Does not apply" counts as one more opinion: it wins by more than half of the ratings, half of
    them are adjudicated, and fewer are left out before the median.

    Args:
        ratings: Blind ratings, one of each person, in any order.
        adjudicated: What a person decided about them.
        key: Secret of the deck or grader, up to 64 bytes, so that nobody can tell which of two
            levels a sample goes to.
        sample_id: The sample.
    """
    if adjudicated is not None:
        return GroundTruth(adjudicated, Settled.ADJUDICATED)
    if not ratings:
        return GroundTruth(None, Settled.NO_RATING)
    levels = sorted(rating for rating in ratings if not isinstance(rating, DoesNotApply))
    refusals = len(ratings) - len(levels)
    if refusals > len(levels):
        how = Settled.ONE_RATING if len(ratings) == 1 else Settled.MEDIAN
        return GroundTruth(DOES_NOT_APPLY, how)
    if refusals == len(levels):
        return GroundTruth(None, Settled.TO_ADJUDICATE)
    return _median(levels, key=key, sample_id=sample_id)


def _median(levels: list[int], *, key: bytes, sample_id: str) -> GroundTruth:
    if len(levels) == 1:
        return GroundTruth(levels[0], Settled.ONE_RATING)
    lower, upper = levels[(len(levels) - 1) // 2], levels[len(levels) // 2]
    if upper - lower >= GAP_TO_ADJUDICATE:
        return GroundTruth(None, Settled.TO_ADJUDICATE)
    if lower == upper:
        return GroundTruth(lower, Settled.MEDIAN)
    chosen = upper if takes_upper(key=key, sample_id=sample_id) else lower
    return GroundTruth(chosen, Settled.KEYED_HASH)


def takes_upper(*, key: bytes, sample_id: str) -> bool:
    """Return whether a sample between two levels goes to the upper one: half of them do."""
    return bool(hashlib.blake2b(sample_id.encode(), key=key, digest_size=1).digest()[0] & 1)
