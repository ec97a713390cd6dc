"""Whether a version's mean agreement on examples that it never saw is above a threshold.

It is graduation's test (``betting``), by groups of inputs: those of one group resemble each other,
so that each group is one score, whatever number of examples it has. Where everything was asked the
mean is therefore that over inputs, not over traffic, which the shadow measures afterwards.

Groups of which chance drew a part only stand for more than they are. How probable it was that
chance drew any example of a group nobody knows: how often it came and was not drawn leaves no
example. So its weight is the inverse of its likeliest example's propensity p. One that came m times
at p weighs ``(1 - (1 - p)^m) / p`` at the mean: once where p is 1, and at a low p nearly as often
as it came, up to 1/p times.

A group's score is pulled towards the threshold as much as it weighs less than the heaviest:
``threshold + w (score - threshold)``, with ``w`` of at most 1. These are bets of the size ``w`` on
the score itself, and U stays what it is where the weighted mean is at the threshold.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from autotune_platform.apprentice.agreement import highest_refuted
from autotune_platform.apprentice.betting import NO_WEALTH_YET, Graduation, MeanWealth

Weighed = tuple[float, float]
"""A score from 0 to 1, and its weight, above 0 and at most 1."""


@dataclass(frozen=True)
class Measured:
    """What the scores say.

    Attributes:
        mean: the weighted mean score.
        log_wealth: the natural logarithm of U against the threshold.
        level: what U has to reach.
        is_above: whether it does.
        bound: the highest threshold that U would have reached its level against; 0 where none is.
    """

    mean: float
    log_wealth: float
    level: float
    is_above: bool
    bound: float


def measured(scores: Sequence[Weighed], *, threshold: float, level: float) -> Measured | None:
    """Test scores against a threshold; None of none.

    Args:
        threshold: between 0 and 1, both excluded.
        level: 1 / α, above 1.
    """
    if not scores:
        return None
    bets, wealth = Graduation(threshold), NO_WEALTH_YET
    for score, weight in scores:
        wealth = bets.after(wealth, threshold + weight * (score - threshold))
    reached = MeanWealth(wealth)
    return Measured(
        mean=math.fsum(score * weight for score, weight in scores)
        / math.fsum(weight for _, weight in scores),
        log_wealth=reached.logarithm,
        level=level,
        is_above=reached.reaches(level),
        bound=highest_refuted(Counter(scores), level),
    )


def could_pass(weights: Sequence[float], *, threshold: float, level: float) -> bool:
    """Return whether scores of these weights would pass if all of them were 1."""
    found = measured([(1.0, weight) for weight in weights], threshold=threshold, level=level)
    return found is not None and found.is_above


def fewest_scores(*, threshold: float, level: float) -> int:
    """Return how many scores of one weight, all of them 1, it takes to pass."""
    few, enough = 0, 1
    while not could_pass([1.0] * enough, threshold=threshold, level=level):
        few, enough = enough, 2 * enough
    while enough - few > 1:
        middle = (few + enough) // 2
        if could_pass([1.0] * middle, threshold=threshold, level=level):
            enough = middle
        else:
            few = middle
    return enough


def weighed(weights: Iterable[float]) -> list[float]:
    """Return weights so that the heaviest is 1."""
    known = list(weights)
    heaviest = max(known, default=1.0)
    return [weight / heaviest for weight in known]


def most_telling(propensities: Iterable[float]) -> float:
    """Return from which propensity on groups say most together; 0 of none.

    Beside a group that stands for ten, each that stands for one is a bet of a tenth: thousands of
    phase 1 would say less than they do alone, because of some spot checks since. Which are left out
    follows from propensities and never from scores, so that U is what it was. The mean is that over
    inputs of those times at which chance drew as often.
    """
    least, most = 0.0, 0.0
    inverse_squares = 0.0
    for propensity, count in sorted(Counter(propensities).items(), reverse=True):
        inverse_squares += count / propensity**2
        told = inverse_squares * propensity**2  # as many of the heaviest say as much
        if told > most:
            least, most = propensity, told
    return least
