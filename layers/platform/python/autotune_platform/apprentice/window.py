"""The last pairs of a version: their mean, where it goes, and whether they are too old.

These raise sampling and are reported. They decide nothing: that is ``evidence``.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from autotune_platform.apprentice.pairs import Pair

Trend = Literal["improving", "declining", "stable"]

FEWEST_FRESH = 20
"""With fewer pairs left, the window is stale."""
_WINDOWS_COMPARED = 4  # the last three and the one before them: each of the three falls
_STABLE_SLOPE = 0.01
_SLOPE_OF_PAIRS = 100


class WindowSettingsError(ValueError):
    """A setting of the window is outside its limits; the message names it."""


@dataclass(frozen=True)
class WindowSettings:
    """What a window is.

    Attributes:
        size: how many pairs it has at most.
        sensitivity: a window that is lower than the one before it by more than this has shifted.
        max_age_seconds: pairs older than this leave it.
        is_gated: whether only answers count of which the version was sure.

    Raises:
        WindowSettingsError: one of them is outside its limits.
    """

    size: int = 100
    sensitivity: float = 0.10
    max_age_seconds: float = 7 * 86_400
    is_gated: bool = False

    def __post_init__(self) -> None:
        if not 20 <= self.size <= 10_000:
            raise WindowSettingsError(f"window_size: from 20 to 10000, not {self.size}")
        if not 0 < self.sensitivity < 1:
            raise WindowSettingsError(
                f"trend_sensitivity: between 0 and 1, both excluded, not {self.sensitivity}"
            )
        if not 0 < self.max_age_seconds < math.inf:
            raise WindowSettingsError(f"max_window_age: above 0, not {self.max_age_seconds} s")

    @property
    def step(self) -> int:
        """Pairs between the ends of two windows, of which each has half of the other."""
        return self.size // 2

    @property
    def pairs_needed(self) -> int:
        """How many of the latest drawn pairs have a say in the figures."""
        return self.size + (_WINDOWS_COMPARED - 1) * self.step


@dataclass(frozen=True)
class WindowFigures:
    """What the last pairs show.

    Attributes:
        pairs: how many are in the window.
        mean: their mean score; None where there are none.
        slope: by how much scores rise in a hundred pairs, by least squares; None for less than two.
        trend: ``improving`` above +0.01, ``declining`` below -0.01, else ``stable``.
        has_drift: the last three windows, each half of the one before, are each lower than that.
        has_shift: the last window is lower than the one before it by more than the sensitivity.
        is_stale: fewer than twenty pairs are young enough; a sample is due.
    """

    pairs: int
    mean: float | None
    slope: float | None
    trend: Trend
    has_drift: bool
    has_shift: bool
    is_stale: bool


def figures(pairs: Sequence[Pair], now: float, settings: WindowSettings) -> WindowFigures:
    """Return the figures of a version's latest pairs.

    Args:
        pairs: in the order of their sequence; more than ``pairs_needed`` drawn ones do no harm.
        now: Unix seconds.
    """
    fresh = [
        pair.score
        for pair in pairs
        if pair.counts(is_gated=settings.is_gated) and now - pair.at <= settings.max_age_seconds
    ]
    window = fresh[-settings.size :]
    slope = _slope(window)
    means = _means(fresh, settings)
    return WindowFigures(
        pairs=len(window),
        mean=_mean(window) if window else None,
        slope=slope,
        trend=_trend(slope),
        has_drift=len(means) == _WINDOWS_COMPARED
        and all(before > after for before, after in pairwise(means)),
        has_shift=len(means) > 1 and means[-2] - means[-1] > settings.sensitivity,
        is_stale=len(window) < FEWEST_FRESH,
    )


def _means(scores: Sequence[float], settings: WindowSettings) -> list[float]:
    """Return the means of the last whole windows, the oldest first."""
    means = []
    for back in range(_WINDOWS_COMPARED):
        end = len(scores) - back * settings.step
        if end < settings.size:
            break
        means.append(_mean(scores[end - settings.size : end]))
    return means[::-1]


def _mean(scores: Sequence[float]) -> float:
    return math.fsum(scores) / len(scores)


def _slope(scores: Sequence[float]) -> float | None:
    count = len(scores)
    if count < 2:
        return None
    middle = (count - 1) / 2
    products = math.fsum((place - middle) * score for place, score in enumerate(scores))
    return products / (count * (count * count - 1) / 12) * _SLOPE_OF_PAIRS


def _trend(slope: float | None) -> Trend:
    if slope is None or -_STABLE_SLOPE <= slope <= _STABLE_SLOPE:
        return "stable"
    return "improving" if slope > 0 else "declining"
