"""Intervals by the jackknife: equal to one made by hand, and absent with a reason."""

import math

import numpy as np
import pytest
from scipy import stats

from autotune_platform.statistics.intervals import (
    NoInterval,
    kappa_with_interval,
    mean_interval,
)
from autotune_platform.statistics.kappa import quadratic_kappa


def test_it_is_the_jackknife_made_by_hand():
    random = np.random.default_rng(5)
    truth = random.integers(-3, 4, 60)
    judged = np.clip(truth + random.integers(-2, 3, 60), -3, 3)
    groups = random.integers(0, 12, 60)
    keys = np.unique(groups)
    z = [
        math.atanh(quadratic_kappa(truth[groups != key], judged[groups != key]).value)
        for key in keys
    ]
    se = math.sqrt((len(keys) - 1) / len(keys) * sum((each - np.mean(z)) ** 2 for each in z))
    reach = stats.t.ppf(0.95, len(keys) - 1) * se
    found = kappa_with_interval(truth, judged, [f"article {key}" for key in groups])
    centre = math.atanh(found.kappa.value)
    assert found.kappa == quadratic_kappa(truth, judged)
    assert found.interval.low == pytest.approx(math.tanh(centre - reach), abs=1e-12)
    assert found.interval.high == pytest.approx(math.tanh(centre + reach), abs=1e-12)
    assert found.interval.groups == len(keys)


def test_samples_without_a_pair_and_their_groups_change_nothing():
    truth, judged, groups = [1, -1, 2, 0, 3, -2], [1, 0, 2, 1, 2, -3], [1, 1, 2, 2, 3, 3]
    more = kappa_with_interval([*truth, None, 3], [*judged, 1, None], [*groups, 9, 1])
    assert more == kappa_with_interval(truth, judged, groups)


@pytest.mark.parametrize(
    ("truth", "judged", "groups", "reason"),
    [
        ([], [], [], NoInterval.UNDEFINED),
        ([2, 2], [2, 2], [1, 2], NoInterval.UNDEFINED),
        ([1], [2], [1], NoInterval.ONE_GROUP),
        ([1, 2, 3], [1, 2, 2], [1, 1, 1], NoInterval.ONE_GROUP),
        ([1, 2, 3], [1, 2, 3], [1, 2, 3], NoInterval.PERFECT),
        ([1, 2, 3, -3], [1, 2, 3, 3], [1, 2, 3, 4], NoInterval.PERFECT),
        ([1, 1, 1, 3], [1, 1, 1, 2], [1, 1, 2, 3], NoInterval.UNDEFINED_REPLICATE),
        ([-3, 0, 3, 1], [1, 1, 1, 1], [1, 2, 3, 4], NoInterval.NO_VARIATION),
    ],
)
def test_where_there_is_none_the_reason_is_stated(truth, judged, groups, reason):
    interval = kappa_with_interval(truth, judged, groups).interval
    assert (interval.low, interval.high, interval.se) == (None, None, None)
    assert interval.missing_because is reason


def test_each_sample_has_a_group():
    with pytest.raises(ValueError, match="has a group"):
        kappa_with_interval([1, 2], [1, 2], [1])


def test_a_mean_of_single_samples_has_the_t_interval():
    random = np.random.default_rng(6)
    values = random.normal(1, 2, 30)
    mean, interval = mean_interval(values)
    low, high = stats.t.interval(0.90, 29, loc=values.mean(), scale=stats.sem(values))
    assert mean == pytest.approx(values.mean())
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=1e-12)


def test_repeated_samples_of_a_group_make_no_mean_surer():
    random = np.random.default_rng(7)
    values = random.normal(size=20)
    _, once = mean_interval(values)
    _, thrice = mean_interval(np.repeat(values, 3), np.repeat(np.arange(20), 3))
    assert thrice.se == pytest.approx(once.se)
    _, ignored = mean_interval(np.repeat(values, 3))
    assert ignored.se < once.se / 1.5


@pytest.mark.parametrize(
    ("values", "groups", "mean", "reason"),
    [
        ([], None, None, NoInterval.UNDEFINED),
        ([2], None, 2, NoInterval.ONE_GROUP),
        ([2, 4], ["a", "a"], 3, NoInterval.ONE_GROUP),
        ([2, 2, None], None, 2, NoInterval.NO_VARIATION),
    ],
)
def test_a_mean_of_too_few_has_no_interval(values, groups, mean, reason):
    found, interval = mean_interval(values, groups)
    assert (found, interval.missing_because) == (mean, reason)
