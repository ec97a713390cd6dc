"""Whether a version is no worse than the one before it by more than a margin, on the same inputs.

It is the score test of the hypothesis that the mean difference is minus the margin, whose variance
is that of the likeliest distribution with this mean. Where scores are 0 or 1 this is Tango's test
for matched pairs (T. Tango, "Equivalence test and confidence interval for the difference in
proportions for the paired-sample design", Statistics in Medicine 17, 1998). For fractions the
distribution is that of empirical likelihood, on the differences that came and on -1, which a
sample of agreeing models never shows (A. Owen, "Empirical Likelihood", 2001). A test by the
sample's own variance says "no worse" of 50 pairs without a difference in 61 % of cases where one in
a hundred differs.

It looks once at each version, so that it need not hold however often one looks.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

_HALVINGS = 60
_POWER = 0.8
_NORMAL = NormalDist()


@dataclass(frozen=True)
class Difference:
    """How much better a version is than the one before it, on one input.

    Attributes:
        value: from -1 to 1.
        weight: above 0: how much of the traffic the input stands for, against the others.
    """

    value: float
    weight: float = 1.0


@dataclass(frozen=True)
class Comparison:
    """What the differences say.

    Attributes:
        inputs: how many there are.
        mean: the weighted mean difference, -1 to 1.
        differing: share of inputs on which the two differ, 0 to 1.
        margin: how much worse may be overlooked.
        is_no_worse: whether the mean is far enough above minus the margin.
        power: how probable it was to find this of two versions that are equally good and differ on
            as many inputs; None where none differs.
        inputs_for_power: how many inputs make that 80 %; None alike.
    """

    inputs: int
    mean: float
    differing: float
    margin: float
    is_no_worse: bool
    power: float | None
    inputs_for_power: int | None


def compare(differences: Iterable[Difference], *, margin: float, alpha: float) -> Comparison | None:
    """Compare two versions; None without any input.

    Args:
        differences: one for each group of inputs that resemble each other.
        margin: between 0 and 1.
        alpha: how probable it may be that a version passes which is worse by the margin.
    """
    found = list(differences)
    if not found:
        return None
    heaviest = max(one.weight for one in found)
    weights = [one.weight / heaviest for one in found]
    above = [weight * (one.value + margin) for weight, one in zip(weights, found, strict=True)]
    needed = _NORMAL.inv_cdf(1 - alpha)
    power, inputs = _power(found, weights, margin, needed)
    return Comparison(
        inputs=len(found),
        mean=math.fsum(w * one.value for w, one in zip(weights, found, strict=True))
        / math.fsum(weights),
        differing=sum(one.value != 0 for one in found) / len(found),
        margin=margin,
        is_no_worse=_statistic(above, lowest=margin - 1) > needed,
        power=power,
        inputs_for_power=inputs,
    )


def _statistic(above: Sequence[float], *, lowest: float) -> float:
    """Return how far a mean is above 0, in standard deviations of the likeliest mean of 0.

    Args:
        above: values of at least ``lowest``, which is below 0.
    """
    mean = math.fsum(above) / len(above)
    if mean <= 0:
        return 0.0
    most = -1 / lowest
    low, high = 0.0, most
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if math.fsum(value / (1 + middle * value) for value in above) > 0:
            low = middle
        else:
            high = middle
    shares = [1 / (1 + low * value) / len(above) for value in above]
    unseen = max(0.0, 1 - math.fsum(shares))
    variance = (
        math.fsum(share * value * value for share, value in zip(shares, above, strict=True))
        + unseen * lowest * lowest
    )
    return mean * math.sqrt(len(above) / variance)


def _power(
    found: Sequence[Difference], weights: Sequence[float], margin: float, needed: float
) -> tuple[float | None, int | None]:
    """Return the test's power for equal versions that differ as much, and the inputs for 80 %."""
    inputs = len(found)
    square = math.fsum((w * one.value) ** 2 for w, one in zip(weights, found, strict=True)) / inputs
    if square == 0:
        return None, None
    distance = margin * math.fsum(weights) / inputs
    deviation = math.sqrt(square)
    power = _NORMAL.cdf(distance * math.sqrt(inputs) / deviation - needed)
    wanted = ((needed + _NORMAL.inv_cdf(_POWER)) * deviation / distance) ** 2
    return power, math.ceil(wanted)
