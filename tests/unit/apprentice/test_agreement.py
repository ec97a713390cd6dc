"""The bound of agreement is graduation turned round, and holds however often one looks."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune_platform.apprentice.agreement import (
    PARTS,
    counted,
    log_wealth,
    lower_bound,
    mean,
    thousandths,
)
from autotune_platform.apprentice.betting import NO_WEALTH_YET, Graduation, MeanWealth

LEVEL = 40.0


@given(
    parts=st.lists(st.integers(0, PARTS), min_size=1, max_size=200),
    threshold=st.sampled_from([0.05, 0.5, 0.8, 0.9, 0.999]),
)
@settings(max_examples=60, deadline=None)
def test_the_bound_reaches_a_threshold_where_graduations_own_bets_do(
    parts: list[int], threshold: float
) -> None:
    scores = [part / PARTS for part in parts]
    bets, wealth = Graduation(threshold), NO_WEALTH_YET
    for score in scores:
        wealth = bets.after(wealth, score)
    u = MeanWealth(wealth)

    assert log_wealth(counted(scores), threshold) == pytest.approx(u.logarithm, abs=1e-9)
    if abs(u.logarithm - math.log(LEVEL)) > 1e-6:
        assert (lower_bound(counted(scores), LEVEL) >= threshold) == u.reaches(LEVEL)


def test_a_version_that_agrees_in_part_has_a_bound_below_its_mean() -> None:
    few, many = {0: 5, 1000: 95}, {0: 50, 1000: 950}

    assert 0.84 < lower_bound(few, LEVEL) < lower_bound(many, LEVEL) < mean(many) == 0.95
    # A score that is a fraction says more of its mean than scores of 0 and 1 do.
    assert lower_bound({950: 100}, LEVEL) > lower_bound(few, LEVEL)


@pytest.mark.parametrize("scores", [{}, {0: 100}, {0: 1}])
def test_nothing_is_known_of_a_version_that_never_agreed(scores: dict[int, int]) -> None:
    assert lower_bound(scores, LEVEL) == pytest.approx(0, abs=1e-9)


def test_there_is_no_mean_of_nothing() -> None:
    assert mean({}) is None


@pytest.mark.parametrize(("score", "part"), [(0, 0), (1, 1000), (2 / 3, 666), (0.9999, 999)])
def test_scores_are_rounded_down(score: float, part: int) -> None:
    assert thousandths(score) == part


def test_the_bound_is_above_the_true_mean_at_any_time_as_rarely_as_promised() -> None:
    """Of runs that are looked at after each pair, far fewer are ever wrong than 1 / level."""
    random = np.random.default_rng(7)
    wrong, runs, level = 0, 300, 20.0
    for _ in range(runs):
        scores: dict[int, int] = {0: 0, 1000: 0}
        for agrees in random.random(600) < 0.9:
            scores[1000 if agrees else 0] += 1
            # The bound is above .9 where U against .9 has reached the level.
            if log_wealth(scores, 0.9) >= math.log(level):
                wrong += 1
                break
    assert 0 < wrong / runs <= 1 / level
