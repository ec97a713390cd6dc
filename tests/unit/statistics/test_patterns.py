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
    assert cell.count > 1.5 * cell.expected
    truth, judged, groups, _ = biased
    here, there = (truth == -3) & (judged == 1), (truth == 1) & (judged == -3)
    assert cell.expected == (here.sum() + there.sum()) / 2
    more = np.bincount(groups, weights=here) - np.bincount(groups, weights=there)
    signs = more[more != 0] > 0
    exact = stats.binomtest(signs.sum(), signs.size, alternative="greater").pvalue
    assert cell.p == pytest.approx(exact)
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


def false_cells(sizes, *, runs, spread):
    """How often cells are found of a judge that errs by chance, where groups pull it along."""
    random = np.random.default_rng(19)
    groups = np.repeat(np.arange(sizes.size), sizes)
    called = 0
    for _ in range(runs):
        truth, judged = (
            np.clip(np.round(pull[groups] + random.normal(0, 0.5, groups.size)), -3, 3)
            for pull in random.normal(0, spread, (2, sizes.size))
        )
        called += any(cell.is_significant for cell in patterns(truth, judged, groups, {}).cells)
    return called / runs


@pytest.mark.parametrize("each", [1, 10])
def test_groups_that_pull_a_judge_along_are_no_pattern_of_cells(each):
    runs = 200
    margin = 3 * (0.05 * 0.95 / runs) ** 0.5
    found = false_cells(np.full(200 // each, each), runs=runs, spread=1.5)
    assert found <= 0.05 + margin


def test_the_cells_beside_the_diagonal_of_a_good_judge_are_no_pattern():
    random = np.random.default_rng(20)
    called = 0
    for _ in range(100):
        truth, judged = (
            np.clip(np.round(latent), -3, 3)
            for latent in random.normal(0, 1.5, 400) + random.normal(0, 0.5, (2, 400))
        )
        called += any(c.is_significant for c in patterns(truth, judged, np.arange(400), {}).cells)
    assert called / 100 <= 0.05 + 3 * (0.05 * 0.95 / 100) ** 0.5


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
