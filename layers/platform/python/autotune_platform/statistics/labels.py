"""Whether there are labels enough to claim anything."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from autotune_platform.statistics.kappa import Levels, paired

LEAST_LABELS = 50
"""Random labels of the held-out half, below which nothing is claimed."""
LEAST_OUTSIDE_COMMONEST = 15
"""Of them at other levels than the commonest: κ lives on these."""
MOST_OPEN = 0.05
"""Share of drawn samples that have no truth yet, above which nothing is claimed.

People are apart on them, or who was given them left them: they are in no figure, and are those that
are hard, so that a judge looks better without them.
"""


class Insufficient(StrEnum):
    """Why labels do not suffice."""

    FEW_LABELS = "few_labels"
    FEW_OUTSIDE_COMMONEST = "few_outside_commonest_level"
    MANY_OPEN = "many_open"
    UNEVEN_WEIGHTS = "uneven_weights"
    """There are as many as are needed, but few of them stand for most samples."""


@dataclass(frozen=True, slots=True)
class Sufficiency:
    """Whether there are labels enough.

    Attributes:
        n: Labels.
        outside_commonest: Labels at another level than the commonest.
        because: What is missing; None where they suffice.
    """

    n: int
    outside_commonest: int
    because: Insufficient | None

    @property
    def is_sufficient(self) -> bool:
        """Return whether something may be claimed."""
        return self.because is None


def are_many_open(without_truth: int, drawn: int) -> bool:
    """Return whether too many drawn samples have no truth for any claim."""
    return without_truth > MOST_OPEN * drawn


def sufficiency(
    labels: Levels,
    *,
    without_truth: int = 0,
    drawn: int | None = None,
    effective: float | None = None,
) -> Sufficiency:
    """Return whether labels suffice.

    Args:
        labels: True levels, of the held-out half, drawn at random, that a judge's level is compared
            with: shape (n,); NaN is left out.
        without_truth: Drawn samples that have none: people are apart, or left them.
        drawn: All drawn samples, these included; `labels` and `without_truth` together without it.
        effective: How many labels of equal weight would say as much, where they have weights; there
            are to be as many of these as of labels.
    """
    (levels,) = paired(labels)
    n = int(levels.size)
    commonest = int(np.max(np.unique(levels, return_counts=True)[1], initial=0))
    because = None
    if are_many_open(without_truth, len(labels) + without_truth if drawn is None else drawn):
        because = Insufficient.MANY_OPEN
    elif n < LEAST_LABELS:
        because = Insufficient.FEW_LABELS
    elif effective is not None and effective < LEAST_LABELS:
        because = Insufficient.UNEVEN_WEIGHTS
    elif n - commonest < LEAST_OUTSIDE_COMMONEST:
        because = Insufficient.FEW_OUTSIDE_COMMONEST
    return Sufficiency(n, n - commonest, because)
