"""Quantiles and tails, against scipy and a published table."""

import math

import numpy as np
import pytest
from scipy import stats

from autotune_platform.statistics.distributions import (
    binomial_cdf,
    t_cdf,
    t_quantile,
    t_two_sided,
)

RANDOM_INPUTS = 1000
# Two-sided 95 %: NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2.
TABLE = {
    1: 12.706,
    2: 4.303,
    3: 3.182,
    4: 2.776,
    5: 2.571,
    6: 2.447,
    7: 2.365,
    8: 2.306,
    9: 2.262,
    10: 2.228,
    15: 2.131,
    20: 2.086,
    29: 2.045,
    30: 2.042,
    50: 2.009,
    100: 1.984,
}


def test_quantiles_of_student_are_scipys():
    random = np.random.default_rng(1)
    probabilities = random.uniform(size=RANDOM_INPUTS) ** random.integers(1, 4, RANDOM_INPUTS)
    degrees = np.round(np.exp(random.uniform(0, math.log(10_000), RANDOM_INPUTS)))
    for probability, df in zip(probabilities, degrees, strict=True):
        assert t_quantile(probability, df) == pytest.approx(
            stats.t.ppf(probability, df), rel=1e-9, abs=1e-9
        )


@pytest.mark.parametrize("df", [1, 2, 3, 11, 49, 99, 9_999, 2.5])
@pytest.mark.parametrize("probability", [1e-6, 0.05 / 2**20, 0.01, 0.5, 0.975, 1 - 1e-9])
def test_quantiles_hold_at_the_ends(df, probability):
    assert t_quantile(probability, df) == pytest.approx(stats.t.ppf(probability, df), rel=1e-7)
    assert t_cdf(t_quantile(probability, df), df) == pytest.approx(probability, rel=1e-9)


@pytest.mark.parametrize("degrees", TABLE)
def test_points_are_those_of_the_table(degrees):
    assert t_quantile(0.975, degrees) == pytest.approx(TABLE[degrees], abs=0.0005)


def test_points_have_closed_forms_for_one_and_two_degrees():
    assert t_quantile(0.975, 1) == pytest.approx(math.tan(math.pi * 0.95 / 2), rel=1e-12)
    assert t_quantile(0.975, 2) == pytest.approx(0.95 * math.sqrt(2 / (1 - 0.95**2)), rel=1e-12)


def test_points_come_down_to_that_of_the_normal_distribution():
    points = [t_quantile(0.975, degrees) for degrees in range(1, 600)]
    assert points == sorted(points, reverse=True)
    assert 1.959964 < points[-1] < 1.9645


def test_two_sided_probabilities_are_scipys():
    random = np.random.default_rng(2)
    for t, df in zip(random.normal(0, 4, 300), random.integers(1, 300, 300), strict=True):
        assert t_two_sided(t, int(df)) == pytest.approx(2 * stats.t.sf(abs(t), df), rel=1e-9)
    assert t_two_sided(0, 5) == 1


@pytest.mark.parametrize(("probability", "df"), [(0, 5), (1, 5), (0.5, 0)])
def test_what_has_no_quantile_is_refused(probability, df):
    with pytest.raises(ValueError, match=r"between 0 and 1|above 0"):
        t_quantile(probability, df) if df else t_cdf(0, df)


def test_binomial_tails_are_scipys():
    random = np.random.default_rng(3)
    for _ in range(RANDOM_INPUTS):
        n = int(random.integers(0, 200))
        hits, share = int(random.integers(-1, n + 2)), float(random.uniform())
        assert binomial_cdf(hits, n, share) == pytest.approx(
            stats.binom.cdf(hits, n, share), rel=1e-8, abs=1e-300
        )
    assert binomial_cdf(3, 5, 0.0) == 1
    assert binomial_cdf(3, 5, 1.0) == 0
