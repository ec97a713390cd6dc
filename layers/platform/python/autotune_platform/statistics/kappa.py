"""Cohen's κ with quadratic weights, of pairs of levels.

κ = 1 - Σ w·O / Σ w·E with w = (i - j)² (Cohen 1968, "Weighted kappa"). With these weights it is a
function of six sums over the pairs, so that leaving pairs out is a subtraction: see
`intervals.py`. It is also Lin's concordance coefficient, and lies between -1 and 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Levels: TypeAlias = Floats | Sequence[float | int | None]
"""Levels of n samples, in their order: NaN or None where there is none."""

LOWEST, HIGHEST = -3, 3
LEVELS = tuple(range(LOWEST, HIGHEST + 1))


class Undefined(StrEnum):
    """Why a coefficient of agreement has no value."""

    NO_PAIRS = "no_pairs"
    """No sample has both."""
    ONE_LEVEL_ONLY = "one_level_only"
    """All of them are at one and the same level: chance alone would agree as well."""


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A coefficient of agreement.

    Attributes:
        value: From -1 to 1, or None where it is undefined.
        undefined_because: Why it has none.
        n: Pairs (for α: ratings) that it is of.
    """

    value: float | None
    undefined_because: Undefined | None
    n: int


def quadratic_kappa(first: Levels, second: Levels) -> Coefficient:
    """Return κ of the samples that have both levels.

    Of one pair that differs it is 0, as of any rater who gives everything the same level.

    Args:
        first: Shape (n,).
        second: Shape (n,), of the same samples.
    """
    a, b = paired(first, second)
    if not a.size:
        return Coefficient(None, Undefined.NO_PAIRS, 0)
    value = float(kappa_of_sums(pair_sums(a, b).sum(axis=0)))
    if np.isnan(value):
        return Coefficient(None, Undefined.ONE_LEVEL_ONLY, int(a.size))
    return Coefficient(value, None, int(a.size))


def as_levels(levels: Levels) -> Floats:
    """Return levels as floats, with NaN for none."""
    return np.asarray(levels, dtype=np.float64)


def paired(*columns: Levels) -> tuple[Floats, ...]:
    """Return the columns' rows in which none lacks its level."""
    arrays = [as_levels(column) for column in columns]
    both = has_all(*arrays)
    return tuple(array[both] for array in arrays)


def has_all(*columns: Levels) -> npt.NDArray[np.bool_]:
    """Return which samples have a level in every column, shape (n,)."""
    arrays = [as_levels(column) for column in columns]
    if len({array.shape for array in arrays}) > 1:
        raise ValueError(f"columns are of the same samples, not {[a.shape for a in arrays]}")
    both: npt.NDArray[np.bool_] = np.all([np.isfinite(array) for array in arrays], axis=0)
    return both


def pair_sums(a: Floats, b: Floats) -> Floats:
    """Return what κ is made of, for each pair: shape (..., n, 5).

    Args:
        a: Levels, shape (..., n).
        b: Levels of the same samples.
    """
    return np.stack([np.ones_like(a), a, b, a * a + b * b, a * b], axis=-1)


def kappa_of_sums(sums: Floats) -> Floats:
    """Return κ from sums of `pair_sums` over pairs, NaN where it is undefined.

    Levels are whole numbers, so that the sums are exact and "0" means it.

    Args:
        sums: Shape (..., 5).
    """
    n, a, b, squares, products = np.moveaxis(sums, -1, 0)
    observed = squares - 2 * products
    # Multiplied by n, it stays whole.
    expected = n * squares - 2 * a * b
    is_defined = expected > 0
    value: Floats = np.where(
        is_defined, 1 - n * observed / np.where(is_defined, expected, 1), np.nan
    )
    return value


def confusion(first: Levels, second: Levels) -> npt.NDArray[np.int64]:
    """Count pairs by both levels: shape (7, 7), rows by the first, from -3 to +3."""
    a, b = paired(first, second)
    counts: npt.NDArray[np.int64] = np.zeros((len(LEVELS), len(LEVELS)), dtype=np.int64)
    np.add.at(counts, ((a - LOWEST).astype(int), (b - LOWEST).astype(int)), 1)
    return counts


def percent_agreement(first: Levels, second: Levels) -> float | None:
    """Return the share of pairs at one level, from 0 to 1; None of no pairs.

    It is shown and decides nothing: it rises where a judge moves to the commonest level.
    """
    a, b = paired(first, second)
    return float(np.mean(a == b)) if a.size else None


def group_numbers(groups: npt.ArrayLike | Sequence[Any]) -> npt.NDArray[np.int64]:
    """Return for each sample the number of its group, from 0: shape (n,).

    Args:
        groups: Keys, shape (n,).
    """
    _, numbers = np.unique(np.asarray(groups), return_inverse=True)
    return numbers.astype(np.int64)
