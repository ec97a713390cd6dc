"""Whether a judge has drifted since it was calibrated, from fresh labels.

It needs no numpy: functions that store labels load it cold.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from autotune_platform.statistics.distributions import binomial_cdf

HIT = 1
"""A level that is off by at most one is a hit."""
DRIFT_LABELS = 20
DRIFT_ALPHA = 0.01


@dataclass(frozen=True, slots=True)
class Drift:
    """Whether fresh labels are as a calibration predicts.

    Attributes:
        n: Fresh labels.
        hits: Of them off by at most one.
        predicted: Share of hits that the calibration predicts at these levels; None without labels.
        probability: How likely so few hits, or fewer, are; None below 20 labels.
    """

    n: int
    hits: int
    predicted: float | None
    probability: float | None

    @property
    def has_drifted(self) -> bool:
        """Return whether hits are among the fewest one in a hundred."""
        return self.probability is not None and self.probability <= DRIFT_ALPHA


def drift(confidence: Callable[[int], float], pairs: Sequence[tuple[int, int]]) -> Drift:
    """Return whether fresh labels are as a calibration predicts.

    The share of hits that it predicts is the mean confidence at the levels that the judge gave.

    Args:
        confidence: How likely a person's level is off by at most one from a level of the judge, as
            it was measured.
        pairs: Of fresh labels that were drawn: the label and the level of the same judge.
    """
    n = len(pairs)
    hits = sum(abs(label - judged) <= HIT for label, judged in pairs)
    if not n:
        return Drift(n, hits, predicted=None, probability=None)
    predicted = sum(confidence(judged) for _, judged in pairs) / n
    is_enough = n >= DRIFT_LABELS
    return Drift(n, hits, predicted, binomial_cdf(hits, n, predicted) if is_enough else None)
