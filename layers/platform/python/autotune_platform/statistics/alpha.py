"""How far people agree among themselves: the most that a judge can be asked for.

Krippendorff's α with interval differences, 1 - D_o / D_e (Krippendorff, Content Analysis, 4th ed.,
ch. 12), and beside it each rater's κ with what the others say, which a judge's κ compares with.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from autotune_platform.statistics.kappa import (
    Coefficient,
    Floats,
    Undefined,
    as_levels,
    kappa_of_sums,
    pair_sums,
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
    values = np.where(given, table, 0)
    return _alpha(given.sum(axis=0), values.sum(axis=0), (values**2).sum(axis=0))


def human_ceiling(
    ratings: Sequence[Mapping[str, float | None]], *, key: bytes, sample_ids: Sequence[str]
) -> Ceiling:
    """Return how far people agree among themselves.

    It takes time in proportion to the ratings, however many people gave them.

    Args:
        ratings: Of each sample the blind levels, by rater; None where a rater gave none.
        key: Secret that rounds medians between two levels (`truth.takes_upper`).
        sample_ids: The samples, shape (n,).
    """
    said = [
        {rater: level for rater, level in of_sample.items() if level is not None}
        for of_sample in ratings
    ]
    levels = [as_levels([*one.values()]) for one in said]
    alpha = _alpha(
        np.array([one.size for one in levels]),
        np.array([one.sum() for one in levels]),
        np.array([(one**2).sum() for one in levels]),
    )
    pairs = [
        (rater, level, other)
        for one, sample_id in zip(said, sample_ids, strict=True)
        if len(one) > 1
        for rater, level, other in _beside_others(one, key, sample_id)
    ]
    left_out = _kappas(pairs)
    return Ceiling(alpha, len(left_out), left_out)


def _alpha(counts: npt.NDArray[np.int64], sums: Floats, squares: Floats) -> Coefficient:
    """Return α from the number, the sum and the sum of squares of each sample's ratings."""
    several = counts >= 2
    counts, sums, squares = counts[several], sums[several], squares[several]
    n = int(counts.sum())
    if not n:
        return Coefficient(None, Undefined.NO_PAIRS, 0)
    # Σ over ordered pairs of (x - y)² is 2 (m Σ x² - (Σ x)²), which whole levels keep exact.
    within = 2 * (counts * squares - sums**2)
    between = 2 * (n * float(squares.sum()) - float(sums.sum()) ** 2)
    if between == 0:
        return Coefficient(None, Undefined.ONE_LEVEL_ONLY, n)
    observed = float((within / (counts - 1)).sum()) / n
    expected = between / (n * (n - 1))
    return Coefficient(1 - observed / expected, None, n)


def _beside_others(
    levels: Mapping[str, float], key: bytes, sample_id: str
) -> Iterator[tuple[str, float, int]]:
    """Yield each rater of a sample, their level, and the middle of what the others say."""
    in_order = sorted(levels.items(), key=lambda one: one[1])
    others = len(in_order) - 1
    # To leave out what the others disagree about would leave the easy samples.
    upper = takes_upper(key=key, sample_id=sample_id)
    for place, (rater, level) in enumerate(in_order):
        low, high = ((others - 1) // 2, others // 2)
        # Behind the one that is left out, all others are one place further.
        middle = (in_order[low + (low >= place)][1] + in_order[high + (high >= place)][1]) / 2
        yield rater, level, math.ceil(middle) if upper else math.floor(middle)


def _kappas(pairs: Sequence[tuple[str, float, int]]) -> dict[str, Coefficient]:
    """Return κ of each rater, of pairs of their level and the others', by rater."""
    if not pairs:
        return {}
    raters, numbers = np.unique([rater for rater, _, _ in pairs], return_inverse=True)
    sums = np.zeros((len(raters), 5))
    own, others = as_levels([one for _, one, _ in pairs]), as_levels([one for _, _, one in pairs])
    np.add.at(sums, numbers, pair_sums(own, others))
    return {
        str(rater): Coefficient(None, Undefined.ONE_LEVEL_ONLY, int(of_rater[0]))
        if np.isnan(value)
        else Coefficient(float(value), None, int(of_rater[0]))
        for rater, of_rater, value in zip(raters, sums, kappa_of_sums(sums), strict=True)
    }
