"""From which confidence on a version answers alone, by examples that it never saw.

It is the test of ``students.gate``, one example of each group of inputs, so that they are
independent. Those that chance drew seldom stand for more: their scores are pulled towards the
target as in ``measuring``, which leaves a mean at the target where it is.

The lowest confidence that is shown to keep the target has a mean just above it, the nearer the more
rows there are: its version would be in shadow for thousands of pairs, each of which is paid for,
until they show the same. So the mean is to be some way above the target.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from autotune_platform.apprentice.coverage import least_promised
from autotune_platform.apprentice.students.gate import threshold
from autotune_platform.apprentice.validation.measuring import weighed

WISHED_ABOVE = 0.3
"""Of the way from the target to 1. At .90 that is .93, which a shadow shows in some 1,000 pairs."""


@dataclass(frozen=True)
class SaidWith:
    """An answer with how sure it was.

    Attributes:
        confidence: from 0 to 1.
        score: agreement with the paid model's answer, 0 to 1.
        propensity: how probable it was that the example was made, above 0 and at most 1.
    """

    confidence: float
    score: float
    propensity: float


@dataclass(frozen=True)
class Gate:
    """What a gate goes by, and what it promises.

    Attributes:
        confidence: answers with at least this one go to callers.
        coverage: the share of inputs that these are, weighted.
        least_coverage: what is watched: below it inputs are others than the hold-out's.
        agreement: the weighted mean score of those.
        groups: how many of the hold-out's those are.
        p_value: of the hypothesis that their true agreement is at most the target.
    """

    confidence: float
    coverage: float
    least_coverage: float
    agreement: float
    groups: int
    p_value: float


def gate_of(
    answers: Sequence[SaidWith], candidates: Sequence[float], *, target: float, level: float
) -> Gate | None:
    """Return the lowest gate that is shown to keep a target, and is some way above it.

    It is None where none is shown to keep it.

    Args:
        answers: one of each group of inputs.
        candidates: confidences that fall, from other rows; see ``students.gate.threshold``.
        target: agreement that is to be exceeded, between 0 and 1.
        level: 1 / α, above 1.
    """
    if not answers or not candidates:
        return None
    weights = weighed(1 / one.propensity for one in answers)
    found = threshold(
        [one.confidence for one in answers],
        [target + w * (one.score - target) for one, w in zip(answers, weights, strict=True)],
        target=target,
        alpha=1 / level,
        candidates=candidates,
        wished=target + WISHED_ABOVE * (1 - target),
    )
    if found is None:
        return None
    accepted = [
        (one.score, weight)
        for one, weight in zip(answers, weights, strict=True)
        if one.confidence >= found.confidence
    ]
    total, share = math.fsum(weights), math.fsum(weight for _, weight in accepted)
    coverage = share / total
    # So many of one weight would say as much.
    worth = total * total / math.fsum(weight * weight for weight in weights)
    return Gate(
        confidence=found.confidence,
        coverage=coverage,
        least_coverage=least_promised(coverage, worth),
        agreement=math.fsum(score * weight for score, weight in accepted) / share,
        groups=len(accepted),
        p_value=found.p_value,
    )
