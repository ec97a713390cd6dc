"""Intervals by the delete-one-group jackknife, with quantiles of Student's t.

Samples of one group (one conversation, one article) resemble each other, so whole groups are left
out: without that a nominal 90 % covers 78 to 89. Degrees of freedom are one less than there are
effective groups (Kish): with one group of 40 samples and 60 of one, t of groups - 1 covers 86 of κ.
No seed: the same data give the same interval.
Source: Efron and Tibshirani, An Introduction to the Bootstrap, ch. 11; Fisher's z = atanh κ.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from autotune_platform.statistics.distributions import t_quantile
from autotune_platform.statistics.kappa import (
    Coefficient,
    Floats,
    Levels,
    as_levels,
    group_numbers,
    has_all,
    kappa_of_sums,
    pair_sums,
    quadratic_kappa,
)

CONFIDENCE = 0.90
LEAST_EFFECTIVE_GROUPS = 2
"""Fewer leave less than one degree of freedom."""
Groups = npt.ArrayLike | Sequence[Any]
"""Keys of the groups of n samples, in their order."""


class NoInterval(StrEnum):
    """Why an estimate has no interval."""

    UNDEFINED = "undefined"
    """The estimate itself is undefined."""
    ONE_GROUP = "one_group"
    """Of one group nothing can be left out."""
    PERFECT = "perfect"
    """|κ| = 1, with all pairs or without one of the groups."""
    UNDEFINED_REPLICATE = "undefined_replicate"
    """Without one of the groups it would be undefined: all hangs on that one."""
    NO_VARIATION = "no_variation"
    """No group changes it, as where a judge gives everything the same level."""
    UNEVEN_GROUPS = "uneven_groups"
    """One group has so many of the samples that the others say too little."""
    UNEVEN_WEIGHTS = "uneven_weights"
    """Few labels stand for most samples: an interval would hold the mean too seldom."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate's interval, or why it has none.

    Attributes:
        low: Lower end, on the estimate's scale.
        high: Upper end.
        se: Standard error on the scale that was jackknifed (of κ: atanh κ).
        groups: How many groups it is of.
        missing_because: Why `low`, `high` and `se` are None.
        effective_groups: How many of equal size would say as much; degrees of freedom are one less.
            None where there is no interval.
    """

    low: float | None
    high: float | None
    se: float | None
    groups: int
    missing_because: NoInterval | None = None
    effective_groups: float | None = None

    @classmethod
    def missing(cls, because: NoInterval, groups: int) -> "Interval":
        """Return the interval that there is none."""
        return cls(None, None, None, groups, because)


@dataclass(frozen=True, slots=True)
class KappaWithInterval:
    """κ of a judge with people."""

    kappa: Coefficient
    interval: Interval


def kappa_with_interval(
    truth: Levels, judged: Levels, groups: Groups, *, confidence: float = CONFIDENCE
) -> KappaWithInterval:
    """Return κ and its interval: tanh(z ± t · se) with z = atanh κ.

    Args:
        truth: Shape (n,).
        judged: Shape (n,).
        groups: Keys, shape (n,).
        confidence: Nominal coverage, two-sided.
    """
    kappa = quadratic_kappa(truth, judged)
    sums = sums_by_group(truth, judged, groups)
    return KappaWithInterval(kappa, interval_of_sums(sums, confidence=confidence))


def sums_by_group(truth: Levels, judged: Levels, groups: Groups) -> Floats:
    """Return sums of the pairs of each group, shape (groups, 5).

    Args:
        truth: Shape (n,).
        judged: Shape (n,).
        groups: Keys, shape (n,).
    """
    a, b = as_levels(truth), as_levels(judged)
    both = has_all(a, b)
    if np.shape(groups) != a.shape:
        raise ValueError(f"each of {a.shape} samples has a group, not {np.shape(groups)}")
    numbers = group_numbers(np.asarray(groups)[both])
    sums: Floats = np.zeros((int(np.max(numbers, initial=-1)) + 1, 5))
    np.add.at(sums, numbers, pair_sums(a[both], b[both]))
    return sums


def interval_of_sums(sums: Floats, *, confidence: float = CONFIDENCE) -> Interval:
    """Return κ's interval from the sums of each group, shape (groups, 5)."""
    groups = len(sums)
    whole = sums.sum(axis=0)
    kappa = float(kappa_of_sums(whole)) if groups else math.nan
    if math.isnan(kappa):
        return Interval.missing(NoInterval.UNDEFINED, groups)
    if groups == 1:
        return Interval.missing(NoInterval.ONE_GROUP, groups)
    replicates = kappa_of_sums(whole - sums)
    because = _hangs_on_a_group(kappa, replicates)
    if because is not None:
        return Interval.missing(because, groups)
    se = float(jackknife_se(np.arctanh(replicates)))
    if se == 0:
        return Interval.missing(NoInterval.NO_VARIATION, groups)
    effective = effective_groups(sums[:, 0])
    if effective < LEAST_EFFECTIVE_GROUPS:
        return Interval.missing(NoInterval.UNEVEN_GROUPS, groups)
    z, reach = math.atanh(kappa), t_quantile((1 + confidence) / 2, effective - 1) * se
    low, high = math.tanh(z - reach), math.tanh(z + reach)
    return Interval(low, high, se, groups, effective_groups=effective)


def _hangs_on_a_group(kappa: float, replicates: Floats) -> NoInterval | None:
    if np.isnan(replicates).any():
        return NoInterval.UNDEFINED_REPLICATE
    is_perfect = abs(kappa) == 1 or (np.abs(replicates) == 1).any()
    return NoInterval.PERFECT if is_perfect else None


def effective_groups(sizes: npt.ArrayLike) -> float:
    """Return how many groups of equal size would say as much: n² / Σ n_g² (Kish, 1965).

    Args:
        sizes: Samples of each group, shape (G,).
    """
    of_groups = np.asarray(sizes, dtype=np.float64)
    return float(of_groups.sum() ** 2 / (of_groups**2).sum()) if of_groups.size else 0.0


def jackknife_se(replicates: Floats) -> Floats:
    """Return the standard error of an estimate: se² = ((G - 1) / G) Σ (z_g - z̄)².

    Args:
        replicates: The estimate without each group in turn, shape (..., G).

    Returns:
        Shape (...).
    """
    groups = replicates.shape[-1]
    spread = replicates - replicates.mean(axis=-1, keepdims=True)
    se: Floats = np.sqrt((groups - 1) / groups * (spread**2).sum(axis=-1))
    return se


def mean_interval(
    values: Levels, groups: Groups | None = None, *, confidence: float = CONFIDENCE
) -> tuple[float | None, Interval]:
    """Return a mean and its t interval by the jackknife, by group where groups repeat.

    A large group pulls the mean to itself, so that it looks less far off than it is: without a
    group the mean moves by its part, divided by the share of the others.

    Args:
        values: Shape (n,); NaN is left out.
        groups: Keys, shape (n,); each value is a group of its own where there are none.
        confidence: Nominal coverage, two-sided.
    """
    array = as_levels(values)
    has = np.isfinite(array)
    array = array[has]
    keys = np.arange(array.size) if groups is None else np.asarray(groups)[has]
    numbers = group_numbers(keys)
    count = int(np.max(numbers, initial=-1)) + 1
    if not count:
        return None, Interval.missing(NoInterval.UNDEFINED, 0)
    mean = float(array.mean())
    if count == 1:
        return mean, Interval.missing(NoInterval.ONE_GROUP, 1)
    sizes = np.bincount(numbers, minlength=count)
    totals = np.bincount(numbers, weights=array - mean, minlength=count)
    moved = totals / (array.size - sizes)
    se = math.sqrt((count - 1) / count * float(moved @ moved))
    if se == 0:
        return mean, Interval.missing(NoInterval.NO_VARIATION, count)
    effective = effective_groups(sizes)
    if effective < LEAST_EFFECTIVE_GROUPS:
        return mean, Interval.missing(NoInterval.UNEVEN_GROUPS, count)
    reach = t_quantile((1 + confidence) / 2, effective - 1) * se
    return mean, Interval(mean - reach, mean + reach, se, count, effective_groups=effective)
