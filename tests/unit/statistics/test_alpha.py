"""Krippendorff's α against the package `krippendorff`, and raters against the others."""

import krippendorff
import numpy as np
import pytest

from autotune_platform.statistics.alpha import human_ceiling, krippendorff_alpha
from autotune_platform.statistics.kappa import LEVELS, Undefined, quadratic_kappa

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


def test_each_rater_is_compared_with_what_the_others_say():
    ratings = {
        "ada": [1, 2, -3, 0, None],
        "bob": [1, 2, -2, 0, 3],
        "eve": [1, 2, -2, None, None],
    }
    ceiling = human_ceiling(ratings, key=b"k", sample_ids=["a", "b", "c", "d", "e"])
    assert ceiling.raters == 3
    # Of ada the others agree on the first three; the fourth has one of them.
    assert ceiling.left_out["ada"] == quadratic_kappa([1, 2, -3, 0], [1, 2, -2, 0])
    values = [each.value * each.n for each in ceiling.left_out.values()]
    assert ceiling.kappa == pytest.approx(sum(values) / sum(e.n for e in ceiling.left_out.values()))


def test_one_rater_has_no_ceiling():
    ceiling = human_ceiling({"ada": [1, 2]}, key=b"k", sample_ids=["a", "b"])
    assert (ceiling.raters, ceiling.kappa) == (0, None)
    assert ceiling.alpha.undefined_because is Undefined.NO_PAIRS
