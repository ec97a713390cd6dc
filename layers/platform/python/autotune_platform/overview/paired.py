"""The mean of paired differences, and how sure it is."""

import math
from collections.abc import Sequence
from statistics import fmean, stdev
from typing import NamedTuple

from autotune_platform.statistics.distributions import t_quantile

_CONFIDENCE = 0.95


class Estimate(NamedTuple):
    """A mean, and its interval of 95 % confidence; None of fewer than two values."""

    mean: float
    interval: tuple[float, float] | None


def estimate(differences: Sequence[float]) -> Estimate | None:
    """Return the mean of differences and its interval; None without any.

    The interval is that of the paired t test: mean ± t s / √n, with s the standard deviation of the
    n differences and t the two-sided 95 % point of Student's t with n - 1 degrees of freedom
    (NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.5.2,
    https://www.itl.nist.gov/div898/handbook/eda/section3/eda352.htm).
    """
    if not differences:
        return None
    mean = fmean(differences)
    if len(differences) < 2:
        return Estimate(mean, None)
    width = (
        t_quantile((1 + _CONFIDENCE) / 2, len(differences) - 1)
        * stdev(differences)
        / math.sqrt(len(differences))
    )
    return Estimate(mean, (mean - width, mean + width))
