"""Before and after: whether a changed rubric agrees with people better than the one before.

Δ = κ_new - κ_old on the same samples, jackknifed by group on its own scale, one-sided. Every look
at the same held-out labels may find by chance what is not there. So the k-th look has the level
0.05 / 2^k, and all of them together stay below 0.05.
"""

import math
from dataclasses import dataclass

import numpy as np

from autotune_platform.statistics.distributions import t_quantile
from autotune_platform.statistics.intervals import (
    LEAST_EFFECTIVE_GROUPS,
    Groups,
    KappaWithInterval,
    NoInterval,
    effective_groups,
    jackknife_se,
    sums_by_group,
)
from autotune_platform.statistics.kappa import (
    Coefficient,
    Floats,
    Levels,
    as_levels,
    has_all,
    kappa_of_sums,
    quadratic_kappa,
)

ALL_LOOKS_ALPHA = 0.05
POWER = 0.8
"""How often a change of the size that is called detectable would be found."""


@dataclass(frozen=True, slots=True)
class Change:
    """How κ changes.

    Attributes:
        old: κ before, of the samples that both scored.
        new: κ after.
        delta: The difference; None where one of them is undefined.
        se: Its standard error; None where `missing_because` says so.
        low: Δ - t · se; above 0 the change is an improvement.
        high: Δ + t · se; below 0 it is a deterioration.
        detectable: The Δ that this many labels would find in 80 of 100 cases at this look.
        alpha: Level of this look.
        look: Its number, from 1.
        groups: Groups of samples.
        effective_groups: How many of equal size would say as much; of these come the degrees of
            freedom. One large conversation among small ones would else be found to change κ for
            twice as many looks as its level says, and ten times at a late one.
        missing_because: Why there is no standard error.
    """

    old: Coefficient
    new: Coefficient
    delta: float | None
    se: float | None
    low: float | None
    high: float | None
    detectable: float | None
    alpha: float
    look: int
    groups: int
    effective_groups: float
    missing_because: NoInterval | None = None

    @property
    def is_better(self) -> bool:
        """Return whether κ rises by more than chance explains."""
        return self.low is not None and self.low > 0

    @property
    def is_worse(self) -> bool:
        """Return whether κ falls by more than chance explains."""
        return self.high is not None and self.high < 0


def alpha_of_look(look: int) -> float:
    """Return the level of a look at the same held-out labels.

    Args:
        look: 1 for the first; only fresh labels begin anew.
    """
    if look < 1:
        raise ValueError(f"looks are counted from 1, not {look}")
    # Past some hundred looks 2^k overflows; such a level is as good as none.
    return ALL_LOOKS_ALPHA / 2.0 ** min(look, 200)


def confidence_of_look(look: int) -> float:
    """Return the nominal coverage of two-sided intervals at a look: 1 - 2 · 0.05 / 2^k.

    Args:
        look: 0 for the first version of all, whose intervals are of 90 %: there was nothing to
            choose among. Each one after it that is compared with the same labels has a number.
    """
    if look < 0:
        raise ValueError(f"looks are counted from 0, not {look}")
    # Past some forty looks rounding would leave an interval without ends.
    return 1 - 2 * ALL_LOOKS_ALPHA / 2.0 ** min(look, 40)


def detectable_change(known: KappaWithInterval, *, look: int) -> float | None:
    """Return which Δ an edit would have to make to be found in 80 of 100 cases, before it is tried.

    The edited judge is taken to be as uncertain as this one, and to err independently of it. The
    two usually err alike, so that smaller changes are found, too: `Change.detectable` knows.

    Args:
        known: κ of the judge as it is, with its interval.
        look: Number of the look that the edit would be.

    Returns:
        A difference of κ; None where κ has no interval.
    """
    kappa, interval = known.kappa.value, known.interval
    if kappa is None or interval.se is None or interval.effective_groups is None:
        return None
    # The standard error is of atanh κ, whose derivative is 1 / (1 - κ²).
    se = math.sqrt(2) * interval.se * (1 - kappa**2)
    df = interval.effective_groups - 1
    return (t_quantile(1 - alpha_of_look(look), df) + t_quantile(POWER, df)) * se


def change_in_kappa(
    truth: Levels, old: Levels, new: Levels, groups: Groups, *, look: int
) -> Change:
    """Return how κ changes on the samples that have all three levels.

    Args:
        truth: Shape (n,).
        old: Levels of the judge before, shape (n,).
        new: Levels of the judge after, shape (n,).
        groups: Keys, shape (n,).
        look: How many looks at these labels there are with this one.
    """
    all_three = has_all(truth, old, new)
    t, o, w = (as_levels(each)[all_three] for each in (truth, old, new))
    keys = np.asarray(groups)[all_three]
    kappas = quadratic_kappa(t, o), quadratic_kappa(t, w)
    both = np.stack([sums_by_group(t, o, keys), sums_by_group(t, w, keys)])
    return _change(kappas, both, look)


def _change(kappas: tuple[Coefficient, Coefficient], sums: Floats, look: int) -> Change:
    alpha, count = alpha_of_look(look), sums.shape[1]
    effective = effective_groups(sums[0, :, 0])
    old, new = kappas

    def missing(because: NoInterval, delta: float | None = None) -> Change:
        return Change(
            old, new, delta, None, None, None, None, alpha, look, count, effective, because
        )

    if old.value is None or new.value is None:
        return missing(NoInterval.UNDEFINED)
    delta = new.value - old.value
    if count == 1:
        return missing(NoInterval.ONE_GROUP, delta)
    replicates = kappa_of_sums(sums.sum(axis=1, keepdims=True) - sums)
    differences = replicates[1] - replicates[0]
    if np.isnan(differences).any():
        return missing(NoInterval.UNDEFINED_REPLICATE, delta)
    se = float(jackknife_se(differences))
    if se == 0:
        return missing(NoInterval.NO_VARIATION, delta)
    if effective < LEAST_EFFECTIVE_GROUPS:
        return missing(NoInterval.UNEVEN_GROUPS, delta)
    t = t_quantile(1 - alpha, effective - 1)
    low, high = delta - t * se, delta + t * se
    detectable = (t + t_quantile(POWER, effective - 1)) * se
    return Change(old, new, delta, se, low, high, detectable, alpha, look, count, effective)
