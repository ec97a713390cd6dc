"""How far people agree among themselves: the most that a judge can be asked for.

Krippendorff's α with interval differences, 1 - D_o / D_e (Krippendorff, Content Analysis, 4th ed.,
ch. 12), and beside it each rater's κ with what the others say, which a judge's κ compares with.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from autotune_platform.statistics.kappa import (
    Coefficient,
    Floats,
    Undefined,
    as_levels,
    quadratic_kappa,
)
from autotune_platform.statistics.truth import takes_upper


@dataclass(frozen=True, slots=True)
class Ceiling:
    """How far people agree among themselves.

    Attributes:
        alpha: Krippendorff's α, interval.
        raters: How many people rated a sample that somebody else rated too.
        left_out: Each rater's κ with the median of the others, by rater.
    """

    alpha: Coefficient
    raters: int
    left_out: Mapping[str, Coefficient]

    @property
    def kappa(self) -> float | None:
        """Return the mean of the raters' κ, weighted by their pairs; None where none is defined."""
        defined = [
            (each.value, each.n) for each in self.left_out.values() if each.value is not None
        ]
        pairs = sum(n for _, n in defined)
        return sum(value * n for value, n in defined) / pairs if pairs else None


def krippendorff_alpha(ratings: Floats | Sequence[Sequence[float | None]]) -> Coefficient:
    """Return Krippendorff's α for interval data.

    Samples with fewer than two ratings are left out. Where all ratings are the same it is
    undefined, as no disagreement could have shown.

    Args:
        ratings: Shape (raters, n), NaN or None where a person did not rate.
    """
    table = np.atleast_2d(np.asarray(ratings, dtype=np.float64))
    given = np.isfinite(table)
    table, given = table[:, given.sum(axis=0) >= 2], given[:, given.sum(axis=0) >= 2]
    n = int(given.sum())
    if not n:
        return Coefficient(None, Undefined.NO_PAIRS, 0)
    values = np.where(given, table, 0)
    counts = given.sum(axis=0)
    # Σ over ordered pairs of (x - y)² is 2 (m Σ x² - (Σ x)²), which whole levels keep exact.
    within = 2 * (counts * (values**2).sum(axis=0) - values.sum(axis=0) ** 2)
    between = 2 * (n * float((values**2).sum()) - float(values.sum()) ** 2)
    if between == 0:
        return Coefficient(None, Undefined.ONE_LEVEL_ONLY, n)
    observed = float((within / (counts - 1)).sum()) / n
    expected = between / (n * (n - 1))
    return Coefficient(1 - observed / expected, None, n)


def human_ceiling(
    ratings: Mapping[str, Sequence[float | None]], *, key: bytes, sample_ids: Sequence[str]
) -> Ceiling:
    """Return how far people agree among themselves.

    Args:
        ratings: Blind levels of each rater, by name, shape (n,) each; None where there is none.
        key: Secret that rounds medians between two levels (`truth.takes_upper`).
        sample_ids: The samples, shape (n,).
    """
    table = np.array([as_levels(row) for row in ratings.values()]).reshape(len(ratings), -1)
    given = np.isfinite(table)
    shared = given & (given.sum(axis=0) >= 2)
    left_out = {
        rater: quadratic_kappa(table[row], _of_others(table, row, key, sample_ids))
        for row, rater in enumerate(ratings)
        if shared[row].any()
    }
    return Ceiling(krippendorff_alpha(table), len(left_out), left_out)


def _of_others(table: Floats, row: int, key: bytes, sample_ids: Sequence[str]) -> list[int | None]:
    others = np.delete(table, row, axis=0)
    return [
        _middle(column[np.isfinite(column)], key, sample_id)
        for column, sample_id in zip(others.T, sample_ids, strict=True)
    ]


def _middle(levels: Floats, key: bytes, sample_id: str) -> int | None:
    if not levels.size:
        return None
    # To leave out what the others disagree about would leave the easy samples.
    middle = float(np.median(levels))
    return math.ceil(middle) if takes_upper(key=key, sample_id=sample_id) else math.floor(middle)
