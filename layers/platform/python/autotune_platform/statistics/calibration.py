"""Whether a judge may score alone, how sure each level is, and whether it has drifted since."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from autotune_platform.statistics.distributions import binomial_cdf
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
HIT = 1
"""A level that is off by at most one is a hit."""
DRIFT_LABELS = 20
DRIFT_ALPHA = 0.01


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


@dataclass(frozen=True, slots=True)
class Drift:
    """Whether fresh labels are as a calibration predicts.

    Attributes:
        n: Fresh labels.
        hits: Of them off by at most one.
        predicted: Share of hits that the calibration predicts at these levels.
        probability: How likely so few hits, or fewer, are; None below 20 labels.
    """

    n: int
    hits: int
    predicted: float
    probability: float | None

    @property
    def has_drifted(self) -> bool:
        """Return whether hits are among the fewest one in a hundred."""
        return self.probability is not None and self.probability <= DRIFT_ALPHA


def calibration(
    truth: Levels,
    judged: Levels,
    groups: Groups,
    *,
    threshold: float = THRESHOLD,
    confidence: float = CONFIDENCE,
) -> Calibration:
    """Return how far a judge may be trusted.

    Args:
        truth: Random labels of the held-out half, shape (n,).
        judged: Shape (n,).
        groups: Keys, shape (n,).
        threshold: What κ's lower bound has to reach.
        confidence: Nominal coverage of κ's interval, two-sided.
    """
    t, j = paired(truth, judged)
    is_hit = np.abs(t - j) <= HIT
    levels = tuple(
        LevelHits(level, int((j == level).sum()), int(is_hit[j == level].sum())) for level in LEVELS
    )
    agreement = kappa_with_interval(truth, judged, groups, confidence=confidence)
    labels = sufficiency(as_levels(truth)[has_all(truth, judged)])
    low, because = agreement.interval.low, None
    if not labels.is_sufficient:
        because = Uncalibrated.INSUFFICIENT_LABELS
    elif low is None:
        because = Uncalibrated.NO_INTERVAL
    elif low < threshold:
        because = Uncalibrated.BELOW_THRESHOLD
    return Calibration(levels, agreement, labels, threshold, because)


def drift(known: Calibration, truth: Levels, judged: Levels) -> Drift:
    """Return whether fresh labels are as a calibration predicts.

    The share of hits that it predicts is the mean confidence at the levels that the judge gave.

    Args:
        known: The calibration.
        truth: Fresh random labels, shape (n,).
        judged: Levels of the same judge, shape (n,).
    """
    t, j = paired(truth, judged)
    n, hits = int(t.size), int((np.abs(t - j) <= HIT).sum())
    predicted = float(np.mean([known.confidence(int(level)) for level in j])) if n else 0.5
    is_enough = n >= DRIFT_LABELS
    return Drift(n, hits, predicted, binomial_cdf(hits, n, predicted) if is_enough else None)
