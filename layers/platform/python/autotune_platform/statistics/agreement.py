"""How far a judge agrees with people: all figures that are shown of one version of a grader."""

from dataclasses import dataclass

import numpy as np

from autotune_platform.statistics.intervals import (
    CONFIDENCE,
    Groups,
    Interval,
    KappaWithInterval,
    kappa_with_interval,
    mean_interval,
)
from autotune_platform.statistics.kappa import (
    LEVELS,
    Levels,
    as_levels,
    has_all,
    percent_agreement,
)
from autotune_platform.statistics.labels import Sufficiency, sufficiency


@dataclass(frozen=True, slots=True)
class Bias:
    """Mean of the judge's level less the truth, in levels.

    Attributes:
        level: The judge's level; None for all.
        n: Pairs.
        mean: None of no pair.
        interval: The mean's t interval by group.
    """

    level: int | None
    n: int
    mean: float | None
    interval: Interval


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far a judge agrees with people.

    Attributes:
        agreement: κ with its interval.
        labels: Whether the pairs suffice for a claim.
        labelled: Samples with a true level.
        coverage: Share of these that the judge gave a level, from 0 to 1; None of none.
        bias: Mean signed error of all pairs.
        bias_by_level: The same by the judge's level, from -3 to +3.
        percent_agreement: Share of pairs at the same level: it decides nothing.
    """

    agreement: KappaWithInterval
    labels: Sufficiency
    labelled: int
    coverage: float | None
    bias: Bias
    bias_by_level: tuple[Bias, ...]
    percent_agreement: float | None


def agreement(
    truth: Levels,
    judged: Levels,
    groups: Groups,
    *,
    confidence: float = CONFIDENCE,
    without_truth: int = 0,
) -> Agreement:
    """Return how far a judge agrees with people.

    Args:
        truth: Random labels of the held-out half, shape (n,); NaN where there is none, or the
            question does not apply.
        judged: Levels of one version, shape (n,); NaN where it abstained or failed.
        groups: Keys, shape (n,).
        confidence: Nominal coverage of intervals, two-sided.
        without_truth: Drawn samples that have none: people are apart, or left them.
    """
    t, j, keys = as_levels(truth), as_levels(judged), np.asarray(groups)
    both, labelled = has_all(t, j), int(np.isfinite(t).sum())
    error, level_of, keys = (j - t)[both], j[both], keys[both]

    def bias(level: int | None) -> Bias:
        rows = np.ones(error.shape, bool) if level is None else level_of == level
        mean, interval = mean_interval(error[rows], keys[rows], confidence=confidence)
        return Bias(level, int(rows.sum()), mean, interval)

    return Agreement(
        agreement=kappa_with_interval(t, j, groups, confidence=confidence),
        labels=sufficiency(t[both], without_truth=without_truth, drawn=t.size + without_truth),
        labelled=labelled,
        coverage=int(both.sum()) / labelled if labelled else None,
        bias=bias(None),
        bias_by_level=tuple(bias(level) for level in LEVELS),
        percent_agreement=percent_agreement(t, j),
    )
