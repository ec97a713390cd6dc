"""How much a judge says the same when it is asked again."""

from dataclasses import dataclass

import numpy as np

from autotune_platform.statistics.kappa import Coefficient, Levels, as_levels, quadratic_kappa


@dataclass(frozen=True, slots=True)
class Repeatability:
    """How a judge's second levels compare with its first, of the same samples.

    Attributes:
        n: Samples that were graded twice.
        both: Of them with a level both times.
        one: Of them with a level once only.
        identical: Share of `both` at the same level; None of none.
        within_one: Share of `both` that are off by at most one.
        mean_distance: Mean of their absolute difference, in levels.
        kappa: Of the first with the second.
    """

    n: int
    both: int
    one: int
    identical: float | None
    within_one: float | None
    mean_distance: float | None
    kappa: Coefficient


def repeatability(first: Levels, again: Levels) -> Repeatability:
    """Return how much a judge says the same when it is asked again.

    Args:
        first: Shape (n,), NaN where it gave no level.
        again: The same samples, graded again.
    """
    a, b = as_levels(first), as_levels(again)
    kappa = quadratic_kappa(a, b)
    one = int((np.isfinite(a) != np.isfinite(b)).sum())
    distance = np.abs(a - b)[np.isfinite(a) & np.isfinite(b)]
    if not distance.size:
        return Repeatability(a.size, 0, one, None, None, None, kappa)
    return Repeatability(
        a.size,
        int(distance.size),
        one,
        float((distance == 0).mean()),
        float((distance <= 1).mean()),
        float(distance.mean()),
        kappa,
    )
