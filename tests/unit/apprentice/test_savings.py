"""Savings are net of checks, and their interval holds what was saved as often as it says."""

import numpy as np
import pytest

from autotune_platform.apprentice.savings import FEWEST_COSTS, Costs, savings


def costs(values: list[int]) -> Costs:
    return sum(map(Costs.of, values), Costs())


def test_savings_are_what_answers_would_have_cost_less_what_checks_cost() -> None:
    saved = savings(1_000, paid=costs([100, 300] * 50), checks=20_000)

    assert (saved.avoided, saved.checks, saved.net) == (200_000, 20_000, 180_000)
    assert saved.low is not None
    assert saved.high is not None
    assert saved.low < 180_000 < saved.high
    assert saved.high - 180_000 == 180_000 - saved.low


def test_checks_may_cost_more_than_answers_save() -> None:
    saved = savings(10, paid=costs([100] * 100), checks=2_500)

    assert (saved.net, saved.low, saved.high) == (-1_500, -1_500, -1_500)


def test_without_paid_answers_there_is_no_saying() -> None:
    saved = savings(10, paid=costs([]), checks=0)

    assert (saved.avoided, saved.net, saved.low) == (None, None, None)


def test_with_few_paid_answers_there_is_no_interval() -> None:
    saved = savings(10, paid=costs([100] * 99), checks=0)

    assert (saved.net, saved.low, saved.high) == (1_000, None, None)


def test_without_local_answers_nothing_is_saved() -> None:
    assert savings(0, paid=costs([]), checks=7).net == -7
    assert savings(0, paid=costs([]), checks=7, additional=5).net == -12


def test_additional_models_are_a_cost_of_their_own() -> None:
    without = savings(1_000, paid=costs([100, 300] * 50), checks=20_000)
    saved = savings(1_000, paid=costs([100, 300] * 50), checks=20_000, additional=5_000)
    assert (saved.checks, saved.additional, saved.avoided) == (20_000, 5_000, without.avoided)
    for name in ("net", "low", "high"):
        assert getattr(saved, name) == getattr(without, name) - 5_000


def test_training_and_hosting_are_taken_off_and_an_unknown_price_is_unknown() -> None:
    paid = costs([100, 300] * 50)
    without = savings(1_000, paid=paid, checks=20_000)
    saved = savings(1_000, paid=paid, checks=20_000, training=30_000, hosting=7_000)
    assert (saved.training, saved.hosting, saved.avoided) == (30_000, 7_000, without.avoided)
    for name in ("net", "low", "high"):
        assert getattr(saved, name) == getattr(without, name) - 37_000
    unknown = savings(1_000, paid=paid, checks=20_000, training=30_000, hosting=None)
    assert (unknown.avoided, unknown.training) == (200_000, 30_000)
    assert (unknown.hosting, unknown.net, unknown.low, unknown.high) == (None,) * 4
    assert savings(0, paid=costs([]), checks=7, training=2).net == -9


def test_the_variance_of_large_costs_is_not_lost() -> None:
    large = 10**12
    assert costs([large, large + 2]).variance == 2


@pytest.mark.parametrize(("spread", "share"), [(0.5, 0.94), (1.0, 0.91), (1.5, 0.84)])
def test_the_interval_holds_what_was_saved_as_often_as_the_guide_says(
    spread: float, share: float
) -> None:
    """Logarithms of costs vary by so much; with 100 of them, the fewest that there are."""
    random = np.random.default_rng(11)
    held = 0
    for _ in range(600):
        spent = [int(value) for value in random.lognormal(12, spread, FEWEST_COSTS)]
        avoided = int(random.lognormal(12, spread, 1_000).sum())
        saved = savings(1_000, paid=costs(spent), checks=0)
        assert saved.low is not None
        assert saved.high is not None
        held += saved.low <= avoided <= saved.high
    assert held / 600 == pytest.approx(share, abs=0.03)
