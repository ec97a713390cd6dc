"""Whether a judge may score alone, and how sure each level is."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from autotune_platform.statistics.drift import HIT
from autotune_platform.statistics.intervals import (
    CONFIDENCE,
    Groups,
    KappaWithInterval,
    kappa_with_interval,
)
from autotune_platform.statistics.kappa import LEVELS, Levels, as_levels, has_all, paired
from autotune_platform.statistics.labels import Sufficiency, sufficiency

THRESHOLD = 0.4
"""What κ's lower bound reaches, unless a deck says otherwise."""


class Uncalibrated(StrEnum):
    """Why a judge is not calibrated."""

    INSUFFICIENT_LABELS = "insufficient_labels"
    NO_INTERVAL = "no_interval"
    BELOW_THRESHOLD = "below_threshold"


@dataclass(frozen=True, slots=True)
class LevelHits:
    """How often people said about the same, of samples that a judge put at one level.

    Attributes:
        level: The judge's level.
        n: Samples with a label.
        hits: Of them with a label that is off by at most one.
    """

    level: int
    n: int
    hits: int

    @property
    def confidence(self) -> float:
        """Return (hits + 1) / (n + 2): Laplace's rule, 1/2 where nothing is known."""
        return (self.hits + 1) / (self.n + 2)


@dataclass(frozen=True, slots=True)
class Calibration:
    """How far a judge may be trusted.

    Attributes:
        levels: Hits by the judge's level, from -3 to +3.
        agreement: κ with its interval.
        labels: Whether labels suffice.
        threshold: What κ's lower bound has to reach.
        because: Why the judge is not calibrated; None where it is.
    """

    levels: tuple[LevelHits, ...]
    agreement: KappaWithInterval
    labels: Sufficiency
    threshold: float
    because: Uncalibrated | None

    @property
    def is_calibrated(self) -> bool:
        """Return whether the judge may score alone."""
        return self.because is None

    def confidence(self, level: int) -> float:
        """Return how likely a person's level is off by at most one from a level of the judge."""
        return self.levels[LEVELS.index(level)].confidence


def calibration(
    truth: Levels,
    judged: Levels,
    groups: Groups,
    *,
    threshold: float = THRESHOLD,
    confidence: float = CONFIDENCE,
    without_truth: int = 0,
) -> Calibration:
    """Return how far a judge may be trusted.

    Args:
        truth: Random labels of the held-out half, shape (n,).
        judged: Shape (n,).
        groups: Keys, shape (n,).
        threshold: What κ's lower bound has to reach.
        confidence: Nominal coverage of κ's interval, two-sided.
        without_truth: Drawn samples that have none: people are apart, or left them.
    """
    t, j = paired(truth, judged)
    is_hit = np.abs(t - j) <= HIT
    levels = tuple(
        LevelHits(level, int((j == level).sum()), int(is_hit[j == level].sum())) for level in LEVELS
    )
    agreement = kappa_with_interval(truth, judged, groups, confidence=confidence)
    drawn = len(truth) + without_truth
    labels = sufficiency(
        as_levels(truth)[has_all(truth, judged)], without_truth=without_truth, drawn=drawn
    )
    low, because = agreement.interval.low, None
    if not labels.is_sufficient:
        because = Uncalibrated.INSUFFICIENT_LABELS
    elif low is None:
        because = Uncalibrated.NO_INTERVAL
    elif low < threshold:
        because = Uncalibrated.BELOW_THRESHOLD
    return Calibration(levels, agreement, labels, threshold, because)
