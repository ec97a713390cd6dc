"""From several graders' scores to one.

Everything here is pure. Sums are exactly rounded (``math.fsum``), so that the order of graders
makes no difference, and results never leave the range of what they are made of.
"""

import math
import operator
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from autotune.protocol.completions import ReasonCode, VerdictState
from autotune.protocol.grading import ScoreDimension
from autotune.protocol.limits import MAX_DIMENSIONS
from autotune.protocol.tasks import Aggregation
from autotune_platform.verdicts.models import Verdict
from autotune_platform.verdicts.panels import Panel

_Weighted = Sequence[tuple[float, float]]
"""Weights above 0, each with a number that is not negative."""

# Weights such as 0.1, 0.2 and 0.3 are meant to tie.
_TIE = 1e-9
_YES_FROM = 0.5


@dataclass(frozen=True)
class Vote:
    """A grader's score, and what it weighs: any number above 0, only ratios count."""

    weight: float
    value: float
    confidence: float
    dimensions: Sequence[ScoreDimension] = ()


@dataclass(frozen=True)
class Outcome:
    """What a panel's opinions come to; ``value`` and ``confidence`` only where it is scored."""

    state: VerdictState
    value: float | None = None
    confidence: float | None = None
    dimensions: list[ScoreDimension] | None = None
    reason_code: ReasonCode | None = None


def outcome_of(panel: Panel, opinions: Sequence[Verdict]) -> Outcome:
    """Return what the opinions of all members come to.

    Args:
        opinions: one of each member, in the panel's order.
    """
    votes = [
        Vote(member.weight, opinion.value, opinion.confidence, opinion.dimensions or ())
        for member, opinion in zip(panel.members, opinions, strict=True)
        if opinion.state == "scored"
        and opinion.value is not None
        and opinion.confidence is not None
    ]
    if len(votes) < panel.quorum:
        if any(opinion.state == "failed" for opinion in opinions):
            return Outcome("failed", reason_code="quorum_missed")
        return Outcome("abstained")
    if len(panel.members) == 1:
        (alone,) = votes
        dimensions = list(alone.dimensions) or None
        return Outcome("scored", alone.value, alone.confidence, dimensions)
    return aggregate(panel.aggregation, votes)


def aggregate(aggregation: Aggregation, votes: Sequence[Vote]) -> Outcome:
    """Return one score for several, at least one.

    The value is a weighted mean, a weighted median (the midpoint where two values share the
    middle), the lowest value, a mean weighted by confidence as well, or what the weightier side
    says: 1 for values from 0.5, 0 for those below, 0.5 for a tie. The confidence is the weighted
    mean of the graders', for a majority its share of the weights. Dimensions are averaged by name
    over those graders that gave them; of more than 50, those that most graders gave are kept.
    """
    confidence = _mean([(vote.weight, vote.confidence) for vote in votes])
    if aggregation == "majority":
        value, confidence = _majority(votes)
    else:
        value = _VALUES[aggregation](votes)
    return Outcome("scored", value, confidence, _dimensions(votes))


def _mean_value(votes: Sequence[Vote]) -> float:
    return _mean([(vote.weight, vote.value) for vote in votes])


def _median_value(votes: Sequence[Vote]) -> float:
    weights = _near_one([vote.weight for vote in votes])
    ordered = sorted(zip((vote.value for vote in votes), weights, strict=True))
    half = math.fsum(weight for _, weight in ordered) / 2
    for place, (value, _) in enumerate(ordered):
        below = math.fsum(weight for _, weight in ordered[: place + 1])
        if place + 1 < len(ordered) and math.isclose(below, half, rel_tol=_TIE):
            return (value + ordered[place + 1][0]) / 2
        if below >= half:
            return value
    return ordered[-1][0]


def _lowest_value(votes: Sequence[Vote]) -> float:
    return min(vote.value for vote in votes)


def _surest_value(votes: Sequence[Vote]) -> float:
    weights = _near_one([vote.weight for vote in votes])
    sure = [
        (weight * vote.confidence, vote.value)
        for weight, vote in zip(weights, votes, strict=True)
        if weight * vote.confidence > 0
    ]
    return _mean(sure) if sure else _mean_value(votes)


_VALUES: dict[Aggregation, Callable[[Sequence[Vote]], float]] = {
    "mean": _mean_value,
    "median": _median_value,
    "min": _lowest_value,
    "confidence_weighted": _surest_value,
}


def _majority(votes: Sequence[Vote]) -> tuple[float, float]:
    """Return the value that the weightier side stands for, and its share of the weights."""
    yes = _mean([(vote.weight, 1.0 if vote.value >= _YES_FROM else 0.0) for vote in votes])
    if math.isclose(yes, 0.5, rel_tol=_TIE):
        return 0.5, 0.5
    return (1.0, yes) if yes > 0.5 else (0.0, 1 - yes)


def _dimensions(votes: Sequence[Vote]) -> list[ScoreDimension] | None:
    given: dict[str, list[tuple[float, ScoreDimension]]] = defaultdict(list)
    for vote in votes:
        for dimension in vote.dimensions:
            given[dimension.name].append((vote.weight, dimension))
    kept = sorted(given, key=lambda name: (-len(given[name]), name))[:MAX_DIMENSIONS]
    return [
        ScoreDimension(
            name=name,
            value=_mean([(weight, one.value) for weight, one in given[name]]),
            weight=_mean([(weight, one.weight) for weight, one in given[name]]),
        )
        for name in sorted(kept)
    ] or None


def _mean(weighted: _Weighted) -> float:
    """Return the weighted mean, within the range of the numbers, however large they are."""
    lowest = min(number for _, number in weighted)
    highest = max(number for _, number in weighted)
    if lowest == highest:
        return lowest
    # Powers of two keep every digit, and nothing overflows or vanishes in between.
    exponent = math.frexp(highest)[1]
    weights = _near_one([weight for weight, _ in weighted])
    numbers = [math.ldexp(number, -exponent) for _, number in weighted]
    mean = math.fsum(map(operator.mul, weights, numbers)) / math.fsum(weights)
    # As large as the highest at most, but for rounding, which could leave what a float holds.
    return min(
        max(math.ldexp(min(mean, math.ldexp(highest, -exponent)), exponent), lowest), highest
    )


def _near_one(weights: Sequence[float]) -> list[float]:
    exponent = math.frexp(max(weights))[1]
    return [math.ldexp(weight, -exponent) for weight in weights]
