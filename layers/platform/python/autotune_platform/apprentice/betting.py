"""Two tests that may be looked at after each pair, made of bets on the scores.

Graduation bets that a version's mean agreement is above a threshold p: a mean of products of
``1 + bet * (x - p)`` is a martingale if the mean is p, and reaches 1 / alpha at any time with a
probability of alpha at most (I. Waudby-Smith and A. Ramdas, "Estimating means of bounded random
variables by betting", JRSS B 86, 2024). A detector bets that the mean fell below a threshold c: ``M
= (1 + M) * (1 - bet * (x - c))`` is an e-detector, and the mean number of pairs until a false alarm
is at least the level at which it fires (J. Shin, A. Ramdas and A. Rinaldo, "E-detectors: a
nonparametric framework for sequential change detection", NEJSDS 2, 2023).

Results are the same on each machine: there are only products, quotients and sums, which IEEE 754
rounds in one way, sums of several by ``math.fsum``, whose result is the nearest number. Logarithms
would depend on a machine's library. A product is a fraction and an exponent, and never overflows.
"""

import math
from collections.abc import Sequence

GRADUATION_BETS = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9)
"""Shares of the largest bet with which a score of 0 leaves nothing."""
ALARM_BETS = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8)
"""Shares of the largest bet with which a score of 1 leaves nothing."""

_SURELY = 1_000
"""An exponent of two above all levels, and still a float."""

Scaled = tuple[float, int]
"""A fraction from 0.5 to 1, and an exponent of two."""
ONE: Scaled = (0.5, 1)

Wealth = tuple[Scaled, ...]
"""Of graduation: what one unit of each bet has become."""
Levels = tuple[float, ...]
"""Of a detector: what M of each bet is."""

NO_WEALTH_YET: Wealth = (ONE,) * len(GRADUATION_BETS)
AT_REST: Levels = (0.0,) * len(ALARM_BETS)


class Graduation:
    """Bets that the mean is above ``threshold``."""

    def __init__(self, threshold: float) -> None:
        self._threshold = threshold
        self._bets = [share / threshold for share in GRADUATION_BETS]

    def after(self, wealth: Wealth, score: float) -> Wealth:
        """Return the wealth after one more score."""
        above = score - self._threshold
        scaled = []
        for (fraction, exponent), bet in zip(wealth, self._bets, strict=True):
            product, shift = math.frexp(fraction * (1 + bet * above))
            scaled.append((product, exponent + shift))
        return tuple(scaled)


class Detector:
    """Bets that the mean is below ``threshold``, at each pair anew."""

    def __init__(self, threshold: float) -> None:
        self._threshold = threshold
        self._bets = [share / (1 - threshold) for share in ALARM_BETS]

    def after(self, levels: Levels, score: float) -> Levels:
        """Return M of each bet after one more score."""
        above = score - self._threshold
        return tuple(
            (1 + level) * (1 - bet * above) for level, bet in zip(levels, self._bets, strict=True)
        )


class MeanWealth:
    """U, the mean of the bets' wealth, which may be beyond what a float holds."""

    def __init__(self, wealth: Wealth) -> None:
        self._exponent = max(exponent for _, exponent in wealth)
        parts = (math.ldexp(part, exponent - self._exponent) for part, exponent in wealth)
        self._fraction = math.fsum(parts) / len(wealth)

    def reaches(self, level: float) -> bool:
        """Return whether U is at least a level."""
        if self._exponent > _SURELY:
            return True
        return math.ldexp(self._fraction, self._exponent) >= level

    @property
    def logarithm(self) -> float:
        """The natural logarithm of U, which is finite: for people, and not for decisions."""
        return math.log(self._fraction) + self._exponent * math.log(2)


def mean_level(levels: Sequence[float]) -> float:
    """Return the mean of M over the bets."""
    return math.fsum(levels) / len(levels)
