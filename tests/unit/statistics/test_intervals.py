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
    sizes = np.unique(groups, return_counts=True)[1]
    effective = 60**2 / (sizes @ sizes)
    assert effective < len(keys)
    reach = stats.t.ppf(0.95, effective - 1) * se
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
        (
            [*range(-3, 4), 0],
            [-2, -3, 0, 1, 1, 3, 2, 1],
            [1] * 6 + [2, 3],
            NoInterval.UNEVEN_GROUPS,
        ),
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
    "sizes",
    [[40] + [1] * 60, [100] + [1] * 100, [30, 15, 10, 8, 6, 5, 4, 3, 3] + [2] * 8 + [1] * 10],
)
def test_a_large_group_among_small_ones_makes_nothing_surer(sizes):
    """A nominal 90 % of t with groups - 1 held 86 to 88 of κ, and 49 to 82 of a mean error."""
    random = np.random.default_rng(9)
    groups = np.repeat(np.arange(len(sizes)), sizes)
    # Of single samples, which are alike: what holds for all of them.
    many = levels_of(random, np.arange(200_000))
    true_kappa, true_error = quadratic_kappa(*many).value, float((many[1] - many[0]).mean())
    runs, held = 400, np.zeros(2)
    for _ in range(runs):
        truth, judged = levels_of(random, groups)
        kappa = kappa_with_interval(truth, judged, groups).interval
        error = mean_interval(judged - truth, groups)[1]
        held += [kappa.low <= true_kappa <= kappa.high, error.low <= true_error <= error.high]
    assert (held / runs >= 0.87).all(), held / runs
    assert (held / runs <= 0.99).all(), held / runs


def levels_of(random, groups):
    """Truth and a judge, both of which groups pull one way or the other."""
    pulled = random.normal(size=(2, groups.max() + 1))[:, groups]
    latent = pulled[0] + random.normal(0, 1.2, groups.size)
    judged = latent + 0.4 + 0.7 * pulled[1] + random.normal(0, 0.9, groups.size)
    return tuple(np.clip(np.round(each), -3, 3) for each in (latent, judged))


@pytest.mark.parametrize(
    ("values", "groups", "mean", "reason"),
    [
        ([], None, None, NoInterval.UNDEFINED),
        ([2], None, 2, NoInterval.ONE_GROUP),
        ([2, 4], ["a", "a"], 3, NoInterval.ONE_GROUP),
        ([2, 2, None], None, 2, NoInterval.NO_VARIATION),
        ([1, 2, 3, 2, 1, 3, 9], ["a"] * 6 + ["b"], 3, NoInterval.UNEVEN_GROUPS),
    ],
)
def test_a_mean_of_too_few_has_no_interval(values, groups, mean, reason):
    found, interval = mean_interval(values, groups)
    assert (found, interval.missing_because) == (mean, reason)
