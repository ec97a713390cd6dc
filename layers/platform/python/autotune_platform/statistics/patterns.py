"""Where a judge errs: cells of the table and kinds of samples, without a model.

A cell is compared with its mirror: levels taken for another one, against those of the other one
that are taken for this. A judge that errs by chance does both alike, so that groups in which one
outnumbers the other are tested by their signs, which is exact. (Against independence, the cells
beside the diagonal of any good judge would be errors.) Mean signed errors have t intervals by
group. As many comparisons find something by chance, all of them together go through Benjamini and
Hochberg (1995), "Controlling the false discovery rate", J. R. Statist. Soc. B 57.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from autotune_platform.statistics.distributions import binomial_cdf, t_two_sided
from autotune_platform.statistics.intervals import Groups, Interval, mean_interval
from autotune_platform.statistics.kappa import (
    LEVELS,
    Levels,
    as_levels,
    confusion,
    group_numbers,
    has_all,
)

FALSE_DISCOVERIES = 0.05
"""Expected share of patterns called significant that are none."""
EVERYTHING = "all"
"""The factor of all samples."""
LENGTH_CLASSES = ("short", "medium", "long")


@dataclass(frozen=True, slots=True)
class CellPattern:
    """Samples of one true level that the judge puts at another one.

    Attributes:
        truth: Their true level.
        judged: The judge's.
        count: How many.
        expected: How many there would be if it erred to either side alike: half of this cell and
            its mirror together.
        p: Probability that it outnumbers its mirror in so many groups, of those where they differ.
        q: The same, adjusted for all comparisons; significant at 0.05 or less.
    """

    truth: int
    judged: int
    count: int
    expected: float
    p: float
    q: float

    @property
    def is_significant(self) -> bool:
        """Return whether chance does not explain it."""
        return self.q <= FALSE_DISCOVERIES


@dataclass(frozen=True, slots=True)
class ErrorPattern:
    """How much too high (above 0) or too low the judge is on samples of one kind.

    Attributes:
        factor: What they share: `all`, `length`, `model`, `language`, `rater` or the like.
        value: Which of its values.
        n: Samples.
        mean_error: Mean of the judge's level less the truth.
        interval: Its t interval by group.
        p: Probability of a mean so far from 0 by chance; None where there is no interval.
        q: The same, adjusted for all comparisons.
    """

    factor: str
    value: str
    n: int
    mean_error: float
    interval: Interval
    p: float | None
    q: float | None

    @property
    def is_significant(self) -> bool:
        """Return whether chance does not explain it."""
        return self.q is not None and self.q <= FALSE_DISCOVERIES


@dataclass(frozen=True, slots=True)
class Patterns:
    """Where a judge errs, the surest first."""

    cells: tuple[CellPattern, ...]
    errors: tuple[ErrorPattern, ...]


def patterns(
    truth: Levels, judged: Levels, groups: Groups, factors: Mapping[str, Sequence[str | None]]
) -> Patterns:
    """Return where a judge errs, of samples that have both levels.

    Args:
        truth: Levels of the development half, shape (n,).
        judged: Shape (n,).
        groups: Keys, shape (n,).
        factors: Kinds of samples: by factor the value of each sample, shape (n,), None for none.
    """
    cells = _cells(truth, judged, groups)
    errors = _errors(truth, judged, groups, factors)
    tested = [*(cell.p for cell in cells), *(each.p for each in errors if each.p is not None)]
    adjusted = iter(benjamini_hochberg(tested).tolist())
    with_q = [
        CellPattern(each.truth, each.judged, each.count, each.expected, each.p, next(adjusted))
        for each in cells
    ]
    errors_with_q = [
        ErrorPattern(
            each.factor,
            each.value,
            each.n,
            each.mean_error,
            each.interval,
            each.p,
            None if each.p is None else next(adjusted),
        )
        for each in errors
    ]
    return Patterns(
        tuple(sorted(with_q, key=lambda each: (each.p, each.truth, each.judged))),
        tuple(sorted(errors_with_q, key=lambda each: 1.0 if each.p is None else each.p)),
    )


def benjamini_hochberg(p: Sequence[float]) -> npt.NDArray[np.float64]:
    """Return p-values adjusted for all of them, in their order.

    Args:
        p: Shape (m,), from 0 to 1.
    """
    values = np.asarray(p, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    scaled = values[order] * values.size / np.arange(1, values.size + 1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(1, np.minimum.accumulate(scaled[::-1])[::-1])
    return adjusted


def length_classes(lengths: Sequence[float]) -> list[str]:
    """Return whether each sample is short, medium or long: by thirds, equal ones alike.

    Args:
        lengths: Characters or tokens, shape (n,).
    """
    values = np.asarray(lengths, dtype=np.float64)
    if not values.size:
        return []
    cuts = np.quantile(values, [1 / 3, 2 / 3])
    return [LENGTH_CLASSES[place] for place in np.searchsorted(cuts, values, side="left")]


def _cells(truth: Levels, judged: Levels, groups: Groups) -> list[CellPattern]:
    counts = confusion(truth, judged)
    t, j = as_levels(truth), as_levels(judged)
    both = has_all(t, j)
    t, j = t[both], j[both]
    numbers = group_numbers(np.asarray(groups)[both])
    found = []
    for row, column in np.argwhere(counts).tolist():
        if row == column:
            continue
        level, other = LEVELS[row], LEVELS[column]
        count, mirrored = int(counts[row, column]), int(counts[column, row])
        here = ((t == level) & (j == other)).astype(np.int64)
        there = ((t == other) & (j == level)).astype(np.int64)
        more = np.bincount(numbers, weights=here - there)
        outnumbers, differ = int((more > 0).sum()), int((more != 0).sum())
        p = binomial_cdf(differ - outnumbers, differ, 0.5)
        found.append(CellPattern(level, other, count, (count + mirrored) / 2, p, 1.0))
    return found


def _errors(
    truth: Levels, judged: Levels, groups: Groups, factors: Mapping[str, Sequence[str | None]]
) -> list[ErrorPattern]:
    both = has_all(truth, judged)
    error = (as_levels(judged) - as_levels(truth))[both]
    keys = np.asarray(groups)[both]
    found = []
    all_factors = {EVERYTHING: [EVERYTHING] * both.size, **factors}
    for factor, values in all_factors.items():
        of_samples = np.array(values, dtype=object)[both]
        for value in sorted({each for each in of_samples if each is not None}):
            rows = of_samples == value
            found.append(_error(factor, value, error[rows], keys[rows]))
    return found


def _error(
    factor: str, value: str, error: npt.NDArray[np.float64], groups: npt.NDArray[np.generic]
) -> ErrorPattern:
    mean, interval = mean_interval(error, groups)
    assert mean is not None  # there is a sample of each value
    p = None
    if interval.se is not None and interval.effective_groups is not None:
        p = t_two_sided(mean / interval.se, interval.effective_groups - 1)
    return ErrorPattern(factor, value, int(error.size), mean, interval, p, None)
