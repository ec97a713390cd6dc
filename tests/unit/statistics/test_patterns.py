"""Where a judge errs."""

import numpy as np
import pytest
from scipy import stats

from autotune_platform.statistics.patterns import (
    EVERYTHING,
    benjamini_hochberg,
    length_classes,
    patterns,
)

N = 300


def test_adjusted_values_are_scipys():
    random = np.random.default_rng(16)
    for _ in range(1000):
        p = random.uniform(size=random.integers(1, 40)) ** random.integers(1, 5)
        p[random.uniform(size=p.size) < 0.2] = 0.5  # ties
        assert benjamini_hochberg(p) == pytest.approx(
            stats.false_discovery_control(p, method="bh"), abs=1e-12
        )
    assert benjamini_hochberg([]).size == 0


@pytest.fixture
def biased():
    """A judge that likes long answers, and takes -3 for +1."""
    random = np.random.default_rng(17)
    truth = random.integers(-3, 4, N).astype(float)
    lengths = random.integers(10, 1000, N)
    classes = length_classes(lengths)
    noise = random.choice([-1, 0, 0, 1], N)
    judged = np.clip(truth + noise + (np.array(classes) == "long"), -3, 3)
    judged[truth == -3] = np.where(random.uniform(size=(truth == -3).sum()) < 0.7, 1, -3)
    models = random.choice(["a", "b"], N).tolist()
    return truth, judged, np.arange(N) // 2, {"length": classes, "model": models}


def test_a_planted_cell_and_a_planted_bias_are_found_and_named(biased):
    found = patterns(*biased)
    cell = found.cells[0]
    assert (cell.truth, cell.judged) == (-3, 1)
    assert cell.is_significant
    assert cell.count > 2 * cell.expected
    table = [[cell.count, (biased[0] == -3).sum() - cell.count], [0, 0]]
    table[1][0] = (biased[1] == 1).sum() - cell.count
    table[1][1] = N - sum(table[0]) - table[1][0]
    assert cell.p == pytest.approx(stats.fisher_exact(table, alternative="greater").pvalue)
    of = {(each.factor, each.value): each for each in found.errors}
    assert of["length", "long"].is_significant
    assert of["length", "long"].interval.low > 0
    assert of["length", "long"].mean_error > of["length", "short"].mean_error
    assert of[EVERYTHING, EVERYTHING].n == N
    assert {value for factor, value in of if factor == "length"} == {"short", "medium", "long"}


def test_values_are_adjusted_for_all_comparisons_together(biased):
    found = patterns(*biased)
    every = [*found.cells, *found.errors]
    assert [each.q for each in every] == pytest.approx(
        benjamini_hochberg([each.p for each in every]).tolist()
    )


def test_where_there_is_no_pattern_one_is_rarely_found():
    random = np.random.default_rng(18)
    called = 0
    for _ in range(200):
        truth = random.integers(-1, 2, 120).astype(float)
        judged = random.integers(-1, 2, 120).astype(float)
        factors = {"model": random.choice(["a", "b", "c"], 120).tolist()}
        found = patterns(truth, judged, np.arange(120), factors)
        called += any(each.is_significant for each in (*found.cells, *found.errors))
    # Levels are independent: all is chance, and any finding a false one.
    assert called / 200 <= 0.05 + 3 * (0.05 * 0.95 / 200) ** 0.5


def test_samples_without_both_levels_or_without_a_value_are_left_out():
    found = patterns(
        [1, 2, None, 1], [2, None, 1, 1], [1, 2, 3, 4], {"rater": ["x", "x", "y", None]}
    )
    of = {(each.factor, each.value): each for each in found.errors}
    assert of[EVERYTHING, EVERYTHING].n == 2
    assert of["rater", "x"].n == 1
    assert (of["rater", "x"].p, of["rater", "x"].is_significant) == (None, False)
    assert ("rater", "y") not in of
    assert [(cell.truth, cell.judged, cell.count) for cell in found.cells] == [(1, 2, 1)]


def test_no_sample_has_no_pattern():
    found = patterns([], [], [], {"model": []})
    assert (found.cells, found.errors) == ((), ())


def test_lengths_are_classed_by_thirds_and_equal_ones_alike():
    assert length_classes([]) == []
    assert length_classes([5] * 4) == ["short"] * 4
    classes = length_classes(list(range(9)))
    assert [classes.count(each) for each in ("short", "medium", "long")] == [3, 3, 3]
    assert classes == sorted(classes, key=["short", "medium", "long"].index)
