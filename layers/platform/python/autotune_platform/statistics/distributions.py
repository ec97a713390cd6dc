"""Quantiles and tails of the distributions that intervals and tests here need.

Sources: Student's t by the regularised incomplete beta function, whose continued fraction is summed
by Lentz's method (Press et al., Numerical Recipes, 3rd ed., 6.4), and tails of the binomial by the
same. Tests compare all of them with scipy.
"""

import math
from functools import lru_cache

_TINY = 1e-300
_PRECISION = 1e-15
_MOST_TERMS = 10_000
_MOST_HALVINGS = 200


def t_cdf(t: float, df: float) -> float:
    """Return the probability that Student's t is at most a value.

    Args:
        t: Any finite value.
        df: Degrees of freedom, above 0; need not be whole.
    """
    if df <= 0:
        raise ValueError(f"degrees of freedom are above 0, not {df}")
    tail = incomplete_beta(df / 2, 0.5, df / (df + t * t)) / 2
    return 1 - tail if t > 0 else tail


@lru_cache(maxsize=4096)
def t_quantile(probability: float, df: float) -> float:
    """Return the value that Student's t stays at or below with a probability.

    Args:
        probability: Between 0 and 1, both excluded.
        df: Degrees of freedom, above 0.
    """
    if not 0 < probability < 1:
        raise ValueError(f"a probability is between 0 and 1, not {probability}")
    upper_tail = min(probability, 1 - probability)
    if upper_tail == 0.5:
        return 0.0
    low, high = 0.0, 1.0
    while t_cdf(-high, df) > upper_tail:
        low, high = high, high * 2
    for _ in range(_MOST_HALVINGS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        # The tail itself: 1 - cdf would lose its last digits.
        if t_cdf(-middle, df) > upper_tail:
            low = middle
        else:
            high = middle
    return high if probability > 0.5 else -high


def t_two_sided(t: float, df: float) -> float:
    """Return the probability that |t| is at least a value's."""
    return min(1.0, 2 * t_cdf(-abs(t), df))


def incomplete_beta(a: float, b: float, x: float) -> float:
    """Return the regularised incomplete beta function I_x(a, b).

    Args:
        a: Above 0.
        b: Above 0.
        x: Between 0 and 1.
    """
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    log_front = (math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)) + (
        a * math.log(x) + b * math.log1p(-x)
    )
    # The fraction converges fast on this side only.
    if x < (a + 1) / (a + b + 2):
        return math.exp(log_front) * _beta_fraction(a, b, x) / a
    return 1 - math.exp(log_front) * _beta_fraction(b, a, 1 - x) / b


def _beta_fraction(a: float, b: float, x: float) -> float:
    c = 1.0
    d = 1 / _off_zero(1 - (a + b) * x / (a + 1))
    total = d
    for m in range(1, _MOST_TERMS):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / _off_zero(1 + term * d)
            c = _off_zero(1 + term / c)
            total *= c * d
        if abs(c * d - 1) < _PRECISION:
            return total
    return total


def _off_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


def binomial_cdf(hits: int, n: int, share: float) -> float:
    """Return the probability of at most so many hits in n tries.

    Args:
        hits: How many; below 0 has probability 0.
        n: Tries, 0 or more.
        share: Probability of a hit, from 0 to 1.
    """
    if hits < 0:
        return 0.0
    if hits >= n:
        return 1.0
    # P(X <= k) = I_{1-p}(n - k, k + 1)
    return incomplete_beta(n - hits, hits + 1, 1 - share)
