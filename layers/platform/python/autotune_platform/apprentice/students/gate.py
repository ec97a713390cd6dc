"""From which confidence on a student may answer alone: the lowest that the hold-out bears out.

Thresholds are tested in an order that is fixed beforehand, from the strictest on, and the first
that fails ends it ("fixed sequence testing" in Angelopoulos, Bates, Candès, Jordan and Lei, "Learn
then Test", 2021). The true agreement of what any of those before it accepts is below the target
with a probability of ``alpha`` at most, of all together and however many there are. So the rows may
also say which of these is returned.

That holds for rows that are drawn like those to come, and only if candidates and their order do not
depend on them: candidates are the student's own, from rows that it was trained on.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

_NEARLY = 1e-9
_SPARE = 1.25
_MOST_ROWS = 100_000


@dataclass(frozen=True)
class Threshold:
    """What a gate goes by.

    Attributes:
        confidence: answers with at least this one are accepted.
        coverage: share of the hold-out that it accepts.
        agreement: mean score of those.
        rows: how many those are.
        p_value: of the hypothesis that their true agreement is at most the target.
    """

    confidence: float
    coverage: float
    agreement: float
    rows: int
    p_value: float


def threshold(
    confidences: Sequence[float],
    scores: Sequence[float],
    *,
    target: float,
    alpha: float,
    candidates: Sequence[float],
    wished: float = 0.0,
) -> Threshold | None:
    """Return the lowest threshold that is shown to keep a target; None where none is.

    Of those that are shown to keep it, it is the lowest whose rows agree as much as is wished, and
    where none does, the one whose rows agree most.

    Args:
        confidences: of the hold-out's rows, which chance drew, each by itself.
        scores: of the same rows, 0 to 1.
        target: agreement that is to be exceeded, between 0 and 1.
        alpha: how probable a threshold may be that does not.
        candidates: thresholds that fall, which share answers of rows other than these evenly.
            Those come first whose share suffices for the test with some to spare.
        wished: mean agreement on these rows.

    Raises:
        ValueError: numbers of rows differ, or candidates do not fall.
    """
    if len(confidences) != len(scores):
        raise ValueError("a score for each confidence")
    if any(after >= before for before, after in pairwise(candidates)):
        raise ValueError("candidates that fall")
    if not (0 < target < 1 and 0 < alpha < 1):
        raise ValueError("target and alpha between 0 and 1")
    shown: list[Threshold] = []
    for candidate in candidates[_first(len(scores), len(candidates), target, alpha) :]:
        tested = _tested(confidences, scores, target, candidate)
        if tested.p_value > alpha:
            break
        shown.append(tested)
    for tested in reversed(shown):
        if tested.agreement >= wished:
            return tested
    return max(shown, key=lambda one: one.agreement, default=None)


def rows_to_pass(*, target: float, alpha: float) -> int:
    """Return how many accepted rows pass the test if half as many are wrong as may be."""
    for rows in chain(range(10, 1_000, 10), range(1_000, _MOST_ROWS, 500)):
        if _p_value((1 - target) / 2 * rows, rows, target) <= alpha:
            return rows
    return _MOST_ROWS


def p_value(scores: Sequence[float], target: float) -> float:
    """Return how probable a mean at least as high would be if the target were the true one.

    It is a bound for scores from 0 to 1, by Hoeffding and by Bentkus (Bates et al.,
    "Distribution-Free, Risk-Controlling Prediction Sets", 2021), whichever is lower.
    """
    count = len(scores)
    if not count:
        return 1.0
    return _p_value(math.fsum(1 - score for score in scores), count, target)


def _p_value(short: float, count: int, target: float) -> float:
    risk, most = min(short / count, 1 - target), 1 - target
    hoeffding = math.exp(-count * _divergence(risk, most))
    # Sums of fractions are off by some bits; one error more would count for that.
    bentkus = math.e * _at_most(math.ceil(short - _NEARLY), count, most)
    return min(1.0, hoeffding, bentkus)


def _first(rows: int, candidates: int, target: float, alpha: float) -> int:
    """Return the first candidate to test: it follows from numbers alone, never from the rows.

    A stricter one accepts too few rows for the test, even if only half as many are wrong as may be.
    """
    needed = _SPARE * rows_to_pass(target=target, alpha=alpha)
    for place in range(candidates):
        if rows * (place + 1) / candidates >= needed:
            return place
    return candidates - 1


def _tested(
    confidences: Sequence[float], scores: Sequence[float], target: float, candidate: float
) -> Threshold:
    pairs = zip(confidences, scores, strict=True)
    accepted = [score for confidence, score in pairs if confidence >= candidate]
    return Threshold(
        confidence=candidate,
        coverage=len(accepted) / max(1, len(scores)),
        agreement=math.fsum(accepted) / max(1, len(accepted)),
        rows=len(accepted),
        p_value=p_value(accepted, target),
    )


def _divergence(one: float, other: float) -> float:
    """Return the Kullback-Leibler divergence of two coins."""
    parts = 0.0
    if one > 0:
        parts += one * math.log(one / other)
    if one < 1:
        parts += (1 - one) * math.log((1 - one) / (1 - other))
    return max(0.0, parts)


def _at_most(successes: int, count: int, share: float) -> float:
    """Return how probable so few successes are, of so many tosses of a coin."""
    if successes >= count:
        return 1.0
    log_share, log_rest = math.log(share), math.log1p(-share)
    ways = math.lgamma(count + 1)
    return math.fsum(
        math.exp(
            ways
            - math.lgamma(hits + 1)
            - math.lgamma(count - hits + 1)
            + hits * log_share
            + (count - hits) * log_rest
        )
        for hits in range(successes + 1)
    )
