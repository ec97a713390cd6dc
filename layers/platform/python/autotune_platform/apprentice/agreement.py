"""How far a version agrees at least, from its scores: a bound that holds however often one looks.

It is graduation's own test, turned round (``betting``): the bound is the highest mean that the bets
speak against. U of the same scores falls as the mean that is bet against rises, so there is one
such place. A mean that never was above p has a bound above p, at any time, with a probability of
1 / level at most (Waudby-Smith and Ramdas, JRSS B 86, 2024, section 4).

U is a product, so that the order of scores has no say, and how often each came says all.
"""

import math
from collections.abc import Iterable, Mapping

from autotune_platform.apprentice.betting import GRADUATION_BETS

PARTS = 1_000
"""Scores are counted by whole thousandths, rounded down: the bound is never too high by that."""
_HALVINGS = 40

Scores = Mapping[int, int]
"""How many pairs had a score, by its thousandths."""

Weighed = Mapping[tuple[float, float], int]
"""How many had a score from 0 to 1 and a weight, above 0 and at most 1."""


def thousandths(score: float) -> int:
    """Return under what a score is counted: 0 to 1000."""
    return int(score * PARTS)


def counted(scores: Iterable[float]) -> dict[int, int]:
    """Return how many pairs had each score."""
    counts: dict[int, int] = {}
    for score in scores:
        part = thousandths(float(score))
        counts[part] = counts.get(part, 0) + 1
    return counts


def lower_bound(scores: Scores, level: float) -> float:
    """Return the highest mean agreement that U, at ``level``, speaks against; 0 where it is none.

    It is at least graduation's threshold where U of these scores has reached its level, and below
    it where U has not.

    Args:
        scores: since the last alarm, as U has them.
        level: 1 / α, above 1.
    """
    return highest_refuted(_weighed(scores), level)


def log_wealth(scores: Scores, threshold: float) -> float:
    """Return the natural logarithm of U against a threshold above 0: for people, not for decisions.

    Evidence decides by its own products, which are the same on each machine.
    """
    return log_wealth_of(_weighed(scores), threshold)


def highest_refuted(scores: Weighed, level: float) -> float:
    """Return ``lower_bound`` of scores that have weights."""
    wanted = math.log(level)
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if log_wealth_of(scores, middle) >= wanted:
            low = middle
        else:
            high = middle
    return low


def log_wealth_of(scores: Weighed, threshold: float) -> float:
    """Return ``log_wealth`` of scores that have weights, of which bets are as large a share."""
    logs = [
        math.fsum(
            count * math.log1p(share * weight * (score / threshold - 1))
            for (score, weight), count in scores.items()
        )
        for share in GRADUATION_BETS
    ]
    largest = max(logs)
    return largest + math.log(math.fsum(math.exp(one - largest) for one in logs) / len(logs))


def _weighed(scores: Scores) -> Weighed:
    return {(part / PARTS, 1.0): count for part, count in scores.items()}


def mean(scores: Scores) -> float | None:
    """Return the mean score; None of none."""
    pairs = sum(scores.values())
    return sum(part * count for part, count in scores.items()) / PARTS / pairs if pairs else None
