"""Corrected means against `ppi-python`, and where there is none."""

import math

import numpy as np
import ppi_py
import pytest
from ppi_py.ppi import _calc_lam_glm
from scipy import stats

from autotune_platform.statistics.intervals import Interval, NoInterval, mean_interval
from autotune_platform.statistics.labels import Insufficient
from autotune_platform.statistics.means import (
    Labelled,
    Shown,
    Unlabelled,
    corrected_difference,
    corrected_mean,
)

RANDOM_INPUTS = 1000


def test_it_is_that_of_ppi_python_after_scaling():
    """Ours divides by n - 1 and has quantiles of t, theirs divides by n and has those of z."""
    random = np.random.default_rng(11)
    powers = []
    for _ in range(RANDOM_INPUTS):
        n, rest = int(random.integers(3, 80)), int(random.integers(2, 300))
        y = random.integers(-3, 4, n).astype(float)
        help_ = random.uniform(-0.5, 1.2)
        f = np.clip(np.round(help_ * y + random.normal(0, 1.5, n)), -3, 3)
        u = np.clip(np.round(random.normal(0.3, 1.8, rest)), -3, 3)
        found = corrected_mean(Labelled(y, f), Unlabelled(u), confidence=0.9)
        powers.append(found.power)
        eye = np.eye(1)
        if np.concatenate([f, u]).std() > 0:
            theirs = _calc_lam_glm(*(each[:, None] for each in (y, f, u)), eye, clip=False)
            assert found.power == pytest.approx(np.clip(theirs * n / (n - 1), 0, 1), abs=1e-12)
        at = {"lam": found.power}
        mean = ppi_py.ppi_mean_pointestimate(y, f, u, **at).item()
        assert found.corrected.mean == pytest.approx(mean, abs=1e-12)
        low, high = (end.item() for end in ppi_py.ppi_mean_ci(y, f, u, alpha=0.1, **at))
        their_se = (high - low) / 2 / stats.norm.ppf(0.95)
        of_u = found.power**2 * u.var() / rest
        of_labels = their_se**2 - of_u
        ours = math.sqrt(max(0, of_labels) * n / (n - 1) + of_u * rest / (rest - 1))
        if found.corrected.interval.se is None:
            assert ours == pytest.approx(0, abs=1e-6)
            continue
        assert found.corrected.interval.se == pytest.approx(ours, abs=1e-9)
        reach = stats.t.ppf(0.95, n - 1) * found.corrected.interval.se
        assert found.corrected.interval.high == pytest.approx(mean + reach, abs=1e-9)
        assert found.naive == pytest.approx(np.concatenate([f, u]).mean())
    # Clipped at both ends, and not.
    assert powers.count(0.0) > 50
    assert powers.count(1.0) > 5
    assert sum(0 < power < 1 for power in powers) > 500


@pytest.mark.parametrize(
    ("labelled", "rest", "mean", "reason"),
    [
        (([], []), [], None, NoInterval.UNDEFINED),
        (([], []), [1, 2], None, NoInterval.UNDEFINED),
        (([2], [1]), [1, 2, 3], 2, NoInterval.ONE_GROUP),
        (([1, 1], [1, 2]), [1, 2], 1, NoInterval.NO_VARIATION),
        (([1, None], [2, 2]), [3], 1, NoInterval.ONE_GROUP),
    ],
)
def test_degenerate_inputs_have_a_stated_result(labelled, rest, mean, reason):
    found = corrected_mean(Labelled(*labelled), Unlabelled(rest))
    assert found.power == 0
    assert found.corrected == found.labels_only
    assert found.corrected.mean == mean
    assert found.corrected.interval.missing_because is reason
    assert found.shown is Shown.LABELS_ONLY
    assert not found.labels.is_sufficient


def test_without_further_samples_or_with_a_judge_of_one_level_labels_are_all_there_is():
    y, f = [1, 2, 3, -1], [1, 2, 2, 0]
    for labelled, rest in ((Labelled(y, f), []), (Labelled(y, [1] * 4), [1] * 50)):
        found = corrected_mean(labelled, Unlabelled(rest))
        assert found.power == 0
        mean, interval = mean_interval(y)
        assert found.labels_only.mean == mean
        for name in ("low", "high", "se", "groups", "effective_groups"):
            expected = getattr(interval, name)
            assert getattr(found.labels_only.interval, name) == pytest.approx(expected, abs=1e-12)
        assert found.corrected == found.labels_only


def test_a_perfect_judge_leaves_what_the_rest_varies():
    random = np.random.default_rng(12)
    y, u = random.integers(-3, 4, 60).astype(float), random.integers(-3, 4, 6000).astype(float)
    found = corrected_mean(Labelled(y, y), Unlabelled(u))
    assert found.shown is Shown.CORRECTED
    assert found.power == pytest.approx(1, abs=0.2)
    assert found.corrected.interval.se < found.labels_only.interval.se / 3


def test_groups_that_repeat_make_it_wider_and_single_ones_do_not():
    random = np.random.default_rng(13)
    y = random.integers(-3, 4, 40).astype(float)
    f = np.clip(y + random.integers(-1, 2, 40), -3, 3)
    u = random.integers(-3, 4, 200).astype(float)
    plain = corrected_mean(Labelled(y, f), Unlabelled(u))
    single = corrected_mean(
        Labelled(y, f, [f"l{row}" for row in range(40)]), Unlabelled(u, list(range(200)))
    )
    assert single == plain
    thrice = corrected_mean(
        Labelled(np.repeat(y, 3), np.repeat(f, 3), np.repeat(np.arange(40), 3)),
        Unlabelled(np.repeat(u, 3), np.repeat(np.arange(40, 240), 3)),
    )
    ignored = corrected_mean(
        Labelled(np.repeat(y, 3), np.repeat(f, 3)), Unlabelled(np.repeat(u, 3))
    )
    assert thrice.labels_only.interval.se == pytest.approx(plain.labels_only.interval.se)
    assert thrice.corrected.interval.se == pytest.approx(plain.corrected.interval.se, rel=0.02)
    assert ignored.corrected.interval.se < thrice.corrected.interval.se / 1.5


def test_weights_undo_that_some_samples_were_likelier_to_be_labelled():
    random = np.random.default_rng(14)
    population = random.integers(-3, 4, 4000).astype(float)
    judged = np.clip(population + 1, -3, 3)
    probability = np.where(population > 0, 0.12, 0.03)
    estimates = {"weighted": [], "plain": []}
    for _ in range(200):
        drawn = random.uniform(size=population.size) < probability
        rest = Unlabelled(judged[~drawn])
        for kind, weights in (("weighted", 1 / probability[drawn]), ("plain", None)):
            labelled = Labelled(population[drawn], judged[drawn], weights=weights)
            estimates[kind].append(corrected_mean(labelled, rest).labels_only.mean)
    assert np.mean(estimates["weighted"]) == pytest.approx(population.mean(), abs=0.03)
    assert np.mean(estimates["plain"]) > population.mean() + 0.5


def test_a_mean_of_all_samples_holds_where_many_came_when_most_labels_were_drawn():
    """60 of 200 samples, then 60 of 800 that came later, which judge and people see otherwise."""
    random = np.random.default_rng(16)
    kept = {"weighed": 0, "plain": 0}
    for _ in range(300):
        y = np.concatenate([random.choice([-2, -1, 0], 200), random.choice([0, 1, 2, 3], 800)])
        f = np.clip(y + random.choice([0, 1], 1000) + (np.arange(1000) < 200), -3, 3)
        ids = np.arange(1000)
        drawn = np.concatenate(
            [random.permutation(200)[:60], random.choice(800, 60, replace=False) + 200]
        )
        weights = np.where(drawn < 200, 200 / 60, 800 / 60)
        rest = np.setdiff1d(ids, drawn)
        every = Unlabelled(f, ids, is_all=True)
        found = {
            "weighed": corrected_mean(Labelled(y[drawn], f[drawn], drawn, weights), every),
            "plain": corrected_mean(Labelled(y[drawn], f[drawn], drawn), Unlabelled(f[rest], rest)),
        }
        for kind, one in found.items():
            interval = one.corrected.interval
            kept[kind] += interval.low <= y.mean() <= interval.high
    assert kept["weighed"] >= 0.85 * 300
    assert kept["plain"] < 0.3 * 300


def test_all_samples_with_equal_weights_say_what_the_others_say():
    random = np.random.default_rng(17)
    y, u = random.integers(-3, 4, 60).astype(float), random.integers(-3, 4, 300).astype(float)
    f = np.clip(y + random.integers(-1, 2, 60), -3, 3)
    rest = corrected_mean(Labelled(y, f, range(60)), Unlabelled(u, range(60, 360)))
    every = Unlabelled(np.concatenate([f, u]), range(360), is_all=True)
    both = corrected_mean(Labelled(y, f, range(60), [6] * 60), every)
    assert both.naive == rest.naive
    assert both.power == pytest.approx(rest.power * 1.2, rel=1e-3)
    assert both.corrected.mean == pytest.approx(rest.corrected.mean, abs=1e-3)
    assert both.corrected.interval.se == pytest.approx(rest.corrected.interval.se, rel=0.03)


def test_equal_weights_change_nothing_and_none_may_be_0():
    y, f, u = [1, 2, 3, -1, 0], [1, 2, 2, 0, 0], [0, 1, 2, 3, -3]
    plain = corrected_mean(Labelled(y, f), Unlabelled(u))
    weighted = corrected_mean(Labelled(y, f, weights=[4] * 5), Unlabelled(u))
    assert weighted.power == pytest.approx(plain.power)
    assert weighted.corrected.mean == pytest.approx(plain.corrected.mean)
    assert weighted.corrected.interval.se == pytest.approx(plain.corrected.interval.se)
    with pytest.raises(ValueError, match="above 0"):
        corrected_mean(Labelled([1, 2], [1, 2], weights=[0, 1]), Unlabelled([1]))
    with pytest.raises(ValueError, match="has a group"):
        corrected_mean(Labelled([1, 2], [1, 2], groups=["a"]), Unlabelled([1]))


def test_a_difference_in_pairs_is_surer_than_one_of_strangers():
    random = np.random.default_rng(15)
    groups = np.arange(80)
    difficulty = random.normal(0, 2, 80)

    def version(shift):
        y = np.clip(np.round(difficulty + shift + random.normal(0, 0.5, 80)), -3, 3)
        return y, np.clip(np.round(y + 0.7 + random.normal(0, 0.5, 80)), -3, 3)

    (y0, f0), (y1, f1) = version(0), version(1)

    def parts(y, f, keys):
        return Labelled(y[:40], f[:40], keys[:40]), Unlabelled(f[40:], keys[40:])

    in_pairs = corrected_difference(parts(y0, f0, groups), parts(y1, f1, groups))
    apart = corrected_difference(parts(y0, f0, groups), parts(y1, f1, groups + 1000))
    assert in_pairs.mean == apart.mean
    assert in_pairs.interval.se < apart.interval.se / 2
    assert in_pairs.interval.low > 0
    mean = [corrected_mean(*parts(*each, groups)).corrected.mean for each in ((y0, f0), (y1, f1))]
    assert in_pairs.mean == pytest.approx(mean[1] - mean[0])


def test_a_difference_with_a_version_without_labels_is_none():
    labelled, rest = Labelled([1, 2], [1, 2], ["a", "b"]), Unlabelled([1], ["c"])
    nothing = Labelled([], [], [])
    found = corrected_difference((labelled, rest), (nothing, rest))
    assert (found.mean, found.interval.missing_because) == (None, NoInterval.UNDEFINED)
    one = Labelled([3], [3], ["a"])
    found = corrected_difference((labelled, rest), (one, rest))
    assert found.interval.missing_because is NoInterval.ONE_GROUP


def test_a_judge_that_abstains_where_levels_are_low_moves_no_mean():
    random = np.random.default_rng(16)
    held, naive_held, n = 0, 0, 300
    for _ in range(n):
        y = random.integers(-3, 4, 600).astype(float)
        f = np.clip(y + random.integers(0, 2, 600), -3, 3)
        f[(y < 0) & (random.uniform(size=600) < 0.8)] = np.nan
        # The question does not apply to a tenth, on most of which the judge abstains.
        none = random.uniform(size=600) < 0.1
        y[none] = np.nan
        f[none & (random.uniform(size=600) < 0.7)] = np.nan
        truth = 0.0  # of levels from -3 to 3, each as likely as another
        found = corrected_mean(Labelled(y[:100], f[:100]), Unlabelled(f[100:]), confidence=0.9)
        interval = found.corrected.interval
        held += interval.low <= truth <= interval.high
        naive_held += abs(found.naive - truth) < 0.5
        assert found.labels.n == np.isfinite(y[:100]).sum(), "every label counts"
        assert found.labels_only.mean == pytest.approx(np.nanmean(y[:100]))
    assert held / n == pytest.approx(0.9, abs=0.05)
    assert naive_held == 0, "the judge alone is far off"


def test_what_the_question_does_not_apply_to_is_no_part_of_the_mean():
    random = np.random.default_rng(17)
    y = random.integers(-3, 4, 60).astype(float)
    f = np.clip(y + 1, -3, 3)
    u = random.integers(-3, 4, 300).astype(float)
    plain = corrected_mean(Labelled(y, f), Unlabelled(u))
    more = corrected_mean(
        Labelled(np.append(y, [np.nan] * 6), np.append(f, [np.nan] * 6)),
        Unlabelled(np.append(u, [np.nan] * 30)),
    )
    assert more.labels_only.mean == pytest.approx(plain.labels_only.mean)
    assert more.corrected.mean == pytest.approx(plain.corrected.mean, abs=0.05)
    assert more.naive == pytest.approx(np.concatenate([f, u]).mean())


@pytest.mark.parametrize(("late", "drawn", "is_claimed"), [(5000, 10, False), (1000, 60, True)])
def test_nothing_is_claimed_where_a_few_labels_stand_for_most_samples(late, drawn, is_claimed):
    """60 labels of 500 samples, then some of those that came later.

    No degrees of freedom mend ten labels that stand for ten in eleven samples: a nominal 90 % holds
    the mean of skewed levels in 68 of 100 cases. So there are to be labels worth 50.
    """
    random = np.random.default_rng(21)
    weights = np.repeat([500 / 60, late / drawn], [60, drawn])
    y = random.choice(np.arange(-3.0, 4), 500 + late, p=[0.05] * 6 + [0.7])
    f = np.where(random.random(y.size) < 0.8, y, random.integers(-3, 4, y.size))
    rows = np.concatenate([random.permutation(500)[:60], 500 + random.permutation(late)[:drawn]])
    labelled = Labelled(y[rows], f[rows], rows, weights)
    found = corrected_mean(labelled, Unlabelled(f, range(y.size), is_all=True))
    assert found.labels.n == 60 + drawn
    assert found.labels.because is (None if is_claimed else Insufficient.UNEVEN_WEIGHTS)
    effective = weights.sum() ** 2 / (weights @ weights)
    assert bool(effective >= 50) is is_claimed
    interval = found.labels_only.interval
    assert found.labels_only.mean == pytest.approx(weights @ y[rows] / weights.sum())
    if not is_claimed:
        nothing = Interval.missing(NoInterval.UNEVEN_WEIGHTS, 60 + drawn)
        assert (interval, found.corrected.interval) == (nothing, nothing)
        return
    reach = stats.t.ppf(0.95, effective - 1) * interval.se
    assert interval.high - interval.low == pytest.approx(2 * reach)


def test_few_labels_have_an_interval_where_each_stands_for_as_many():
    y, f, u = (np.arange(each) % 5 - 2.0 for each in (30, 30, 200))
    plain = corrected_mean(Labelled(y, f), Unlabelled(u))
    alike = corrected_mean(Labelled(y, f, weights=[7] * 30), Unlabelled(u))
    assert alike == plain
    assert plain.labels_only.interval.low is not None
    assert plain.labels.because is Insufficient.FEW_LABELS
    uneven = corrected_mean(Labelled(y, f, weights=[7] * 29 + [70]), Unlabelled(u))
    assert uneven.labels_only.interval.missing_because is NoInterval.UNEVEN_WEIGHTS
    assert uneven.labels.because is Insufficient.FEW_LABELS, "there are less than 50 anyway"
    part = Labelled(y, f, range(30), [7] * 29 + [70]), Unlabelled(u)
    other = Labelled(y[::-1], f, range(30)), Unlabelled(u)
    found = corrected_difference(part, other).interval
    assert (found.low, found.missing_because) == (None, NoInterval.UNEVEN_WEIGHTS)


def test_a_large_group_among_single_ones_makes_no_mean_surer():
    """One conversation of 40 samples and 60 of one, half of them labelled."""
    random = np.random.default_rng(24)
    groups = np.repeat(np.arange(61), [40] + [1] * 60)
    runs, held = 400, {"corrected": 0, "labels_only": 0}
    for _ in range(runs):
        latent = (random.normal(size=61)[groups] + random.normal(size=100)) / math.sqrt(2)
        y = np.clip(np.round(1.5 * latent), -3, 3)
        f = np.clip(y + random.integers(-1, 2, 100), -3, 3)
        rated, u = np.split(random.permutation(100), [50])
        found = corrected_mean(
            Labelled(y[rated], f[rated], groups[rated]), Unlabelled(f[u], groups[u])
        )
        for name in held:
            interval = getattr(found, name).interval
            held[name] += interval.low <= 0 <= interval.high
    assert min(held.values()) / runs >= 0.9, held


def test_a_large_group_among_single_ones_makes_no_difference_surer():
    """One conversation of 40 responses and 60 of one, 50 labels, and no effect at all."""
    random = np.random.default_rng(22)
    groups = np.repeat(np.arange(61), [40] + [1] * 60)
    runs, held, better = 300, 0, 0
    for _ in range(runs):
        shared = random.normal(size=61)
        arms = []
        for _ in range(2):
            own = (shared + random.normal(size=61))[groups] / math.sqrt(2)
            latent = math.sqrt(0.6) * own + math.sqrt(0.4) * random.normal(size=100)
            y = np.clip(np.round(2 * latent + 1.5), -3, 3)
            f = np.where(random.random(100) < 0.8, y, random.integers(-3, 4, 100))
            rated, u = np.split(random.permutation(100), [50])
            arms.append((Labelled(y[rated], f[rated], groups[rated]), Unlabelled(f[u], groups[u])))
        interval = corrected_difference(*arms, confidence=0.95).interval
        held += interval.low <= 0 <= interval.high
        better += interval.low > 0
    assert held / runs >= 0.93
    assert better / runs <= 0.035


def test_there_is_no_figure_of_one_group_that_has_nearly_all_labels():
    y = [1, 2, 3, 2, 1, 3, 2, 0]
    part = Labelled(y, y, ["a"] * 7 + ["b"]), Unlabelled([1, 2], ["c", "d"])
    assert corrected_mean(*part).labels_only.interval.missing_because is NoInterval.UNEVEN_GROUPS
    other = Labelled(y[::-1], y, part[0].groups), part[1]
    found = corrected_difference(part, other).interval
    assert (found.missing_because, found.low) == (NoInterval.UNEVEN_GROUPS, None)
