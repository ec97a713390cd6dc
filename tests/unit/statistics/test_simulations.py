"""A bounded share of ``make simulate``: intervals hold the truth as often as they say."""

import pytest

from tests.simulations.acceptance import all_acceptances, uneven_groups
from tests.simulations.coverage import all_coverages
from tests.simulations.planted import Kind, best_of_noise, histories

RUNS = 300
PLANTED_RUNS = 600
"""``make simulate`` runs 4,000 of them."""

ASYMPTOTIC = 0.02
"""How much a jackknife of few groups may be off its nominal coverage."""


def test_intervals_hold_the_true_value_as_often_as_they_say():
    rates = all_coverages(RUNS)
    print(*rates, sep="\n")
    for rate in rates:
        if rate.off >= 0:
            assert rate.observed >= rate.nominal - rate.margin - ASYMPTOTIC, rate
        if rate.off <= 0:
            assert rate.observed <= rate.nominal + rate.margin + ASYMPTOTIC, rate
    # To ignore groups would promise too much.
    ignored = [rate for rate in rates if rate.off < 0]
    assert sum(rate.observed for rate in ignored) / len(ignored) < ignored[0].nominal - 0.04


def test_changes_of_real_judges_are_found_as_often_as_the_design_says():
    rates = all_acceptances(RUNS)
    print(*rates, sep="\n")
    large, small, at_50, at_100, mixed, nearly_equal, worse = rates
    for rate, expected in ((large, 0.96), (small, 0.26), (at_50, 0.67), (at_100, 0.93)):
        assert rate.observed == pytest.approx(expected, abs=rate.margin + ASYMPTOTIC), rate
    for rate in (mixed, nearly_equal):
        assert rate.observed <= 0.05 + rate.margin, rate
    assert worse.observed <= 0.01


def test_groups_of_unlike_sizes_are_accepted_no_more_often_than_their_level():
    rates = uneven_groups(RUNS)
    print(*rates, sep="\n")
    for rate in rates:
        assert rate.observed <= rate.nominal + rate.margin, rate


def test_good_edits_are_accepted_and_others_no_more_often_than_their_level():
    found = histories(PLANTED_RUNS)
    print(*found.rates(), sep="\n")
    by_kind = dict(zip([*Kind, None], found.rates(), strict=True))
    assert by_kind[Kind.GOOD].observed >= 0.95
    for kind, rate in by_kind.items():
        assert rate.runs == PLANTED_RUNS
        if kind is not Kind.GOOD:
            assert rate.observed <= rate.nominal + rate.margin, rate
    # They are tried for real: the judge's luck is accepted at times.
    assert found.accepted[Kind.USELESS] > 0


def test_what_luck_finds_on_the_development_half_the_other_one_refuses():
    looks_better, accepted = best_of_noise(RUNS)
    print(looks_better, accepted, sep="\n")
    assert looks_better.observed > 0.8
    assert accepted.observed <= accepted.nominal + accepted.margin
