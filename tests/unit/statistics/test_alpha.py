"""Krippendorff's α against the package `krippendorff`, and raters against the others."""

import math

import krippendorff
import numpy as np
import pytest

from autotune_platform.statistics.alpha import human_ceiling, krippendorff_alpha
from autotune_platform.statistics.kappa import LEVELS, Undefined, quadratic_kappa
from autotune_platform.statistics.truth import takes_upper
from tests.support.growth import growth

RANDOM_INPUTS = 1000


def test_it_is_krippendorffs_on_random_inputs():
    random = np.random.default_rng(1)
    kinds = {"value": 0, Undefined.ONE_LEVEL_ONLY: 0, Undefined.NO_PAIRS: 0}
    for _ in range(RANDOM_INPUTS):
        raters, n = int(random.integers(1, 6)), int(random.integers(1, 12))
        table = random.choice(LEVELS[: random.integers(1, 8)], (raters, n)).astype(float)
        table[random.uniform(size=table.shape) < random.uniform(0, 0.9)] = np.nan
        alpha = krippendorff_alpha(table)
        pairable = table[:, np.isfinite(table).sum(axis=0) >= 2]
        levels = np.unique(pairable[np.isfinite(pairable)])
        assert alpha.n == np.isfinite(pairable).sum()
        if len(levels) < 2:  # there the package raises
            reason = Undefined.ONE_LEVEL_ONLY if len(levels) else Undefined.NO_PAIRS
            assert (alpha.value, alpha.undefined_because) == (None, reason)
            kinds[reason] += 1
            continue
        expected = krippendorff.alpha(reliability_data=table, level_of_measurement="interval")
        assert alpha.value == pytest.approx(expected, abs=1e-12)
        kinds["value"] += 1
    assert min(kinds.values()) > 50  # all happened


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ([[]], Undefined.NO_PAIRS),
        ([[1, 2, 3]], Undefined.NO_PAIRS),
        ([[1, None], [None, 2]], Undefined.NO_PAIRS),
        ([[2], [2]], Undefined.ONE_LEVEL_ONLY),
    ],
)
def test_degenerate_tables_have_a_stated_result(table, reason):
    assert krippendorff_alpha(table).undefined_because is reason


def by_sample(ratings):
    raters, levels = [*ratings], [*ratings.values()]
    return [dict(zip(raters, column, strict=True)) for column in zip(*levels, strict=True)]


def test_it_is_the_same_on_ratings_by_sample_and_medians_are_numpys():
    random = np.random.default_rng(2)
    for _ in range(200):
        raters, n = int(random.integers(1, 7)), int(random.integers(1, 12))
        table = random.choice(LEVELS, (raters, n)).astype(float)
        table[random.uniform(size=table.shape) < random.uniform(0, 0.7)] = np.nan
        ids = [f"smp_{place}" for place in range(n)]
        rows = [[None if np.isnan(one) else one for one in row] for row in table]
        ratings = {f"r{place}": row for place, row in enumerate(rows)}
        ceiling = human_ceiling(by_sample(ratings), key=b"k", sample_ids=ids)
        assert ceiling.alpha == krippendorff_alpha(table)
        expected = {}
        for place, rater in enumerate(ratings):
            others = [middle(np.delete(table[:, at], place), ids[at]) for at in range(n)]
            kappa = quadratic_kappa(table[place], others)
            if kappa.n:
                expected[rater] = kappa
        assert ceiling.left_out == expected


def middle(levels, sample_id):
    levels = levels[np.isfinite(levels)]
    if not levels.size:
        return None
    up = takes_upper(key=b"k", sample_id=sample_id)
    return math.ceil(np.median(levels)) if up else math.floor(np.median(levels))


def test_many_people_who_rate_little_take_time_in_proportion_to_their_ratings():
    def ceiling(samples):
        ratings = [{f"r{place}": 1, f"s{place}": 2} for place in range(samples)]
        return human_ceiling(ratings, key=b"k", sample_ids=[f"smp_{at}" for at in range(samples)])

    assert ceiling(100).raters == 200
    # Four times as many take four times as long, and sixteen times where it is quadratic.
    assert growth(ceiling, 100, 400) < 9


def test_each_rater_is_compared_with_what_the_others_say():
    ratings = {
        "ada": [1, 2, -3, 0, None],
        "bob": [1, 2, -2, 0, 3],
        "eve": [1, 2, -2, None, None],
    }
    ceiling = human_ceiling(by_sample(ratings), key=b"k", sample_ids=["a", "b", "c", "d", "e"])
    assert ceiling.raters == 3
    # Of ada the others agree on the first three; the fourth has one of them.
    assert ceiling.left_out["ada"] == quadratic_kappa([1, 2, -3, 0], [1, 2, -2, 0])
    values = [each.value * each.n for each in ceiling.left_out.values()]
    assert ceiling.kappa == pytest.approx(sum(values) / sum(e.n for e in ceiling.left_out.values()))


def test_one_rater_has_no_ceiling():
    ceiling = human_ceiling([{"ada": 1}, {"ada": 2}], key=b"k", sample_ids=["a", "b"])
    assert (ceiling.raters, ceiling.kappa) == (0, None)
    assert ceiling.alpha.undefined_because is Undefined.NO_PAIRS
