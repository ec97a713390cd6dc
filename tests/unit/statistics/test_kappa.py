"""Quadratic κ against scikit-learn, and where it is undefined."""

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from autotune_platform.statistics.kappa import (
    LEVELS,
    Undefined,
    confusion,
    percent_agreement,
    quadratic_kappa,
)

RANDOM_INPUTS = 1000


def test_it_is_scikit_learns_on_random_inputs():
    random = np.random.default_rng(1)
    kinds = {"value": 0, Undefined.ONE_LEVEL_ONLY: 0}
    for _ in range(RANDOM_INPUTS):
        n, levels = int(random.integers(1, 60)), LEVELS[: random.integers(1, 8)]
        truth, judged = random.choice(levels, n), random.choice(levels, n)
        kappa = quadratic_kappa(truth, judged)
        assert kappa.n == n
        if np.all(truth == truth[0]) and np.all(judged == truth[0]):
            assert (kappa.value, kappa.undefined_because) == (None, Undefined.ONE_LEVEL_ONLY)
            kinds[Undefined.ONE_LEVEL_ONLY] += 1
            continue
        expected = cohen_kappa_score(truth, judged, labels=list(LEVELS), weights="quadratic")
        assert kappa.value == pytest.approx(expected, abs=1e-12)
        assert kappa.undefined_because is None
        kinds["value"] += 1
    assert min(kinds.values()) > 50  # both happened


@pytest.mark.parametrize(
    ("truth", "judged", "expected"),
    [
        ([], [], Undefined.NO_PAIRS),
        ([1, None], [None, 1], Undefined.NO_PAIRS),
        ([2], [2], Undefined.ONE_LEVEL_ONLY),
        ([0, 0, 0], [0, 0, 0], Undefined.ONE_LEVEL_ONLY),
        ([1], [2], 0.0),
        ([-3, 0, 3], [1, 1, 1], 0.0),
        ([-3, 0, 3], [-3, 0, 3], 1.0),
        ([-3, 3], [3, -3], -1.0),
    ],
)
def test_degenerate_inputs_have_a_stated_result(truth, judged, expected):
    kappa = quadratic_kappa(truth, judged)
    assert expected in (kappa.value, kappa.undefined_because)
    assert (kappa.value is None) != (kappa.undefined_because is None)


def test_only_samples_with_both_levels_count():
    kappa = quadratic_kappa([1, 2, None, -3], [1, None, 2, -2])
    assert kappa == quadratic_kappa([1, -3], [1, -2])
    assert kappa.n == 2


def test_columns_of_different_samples_are_refused():
    with pytest.raises(ValueError, match="same samples"):
        quadratic_kappa([1, 2], [1])


def test_the_table_counts_each_pair_once():
    counts = confusion([-3, 3, 3, None], [-3, 2, 2, 1])
    assert counts.sum() == 3
    assert (counts[0, 0], counts[6, 5]) == (1, 2)


def test_percent_agreement_is_of_equal_pairs():
    assert percent_agreement([1, 2, 3, None], [1, 2, 2, 1]) == pytest.approx(2 / 3)
    assert percent_agreement([], []) is None
