"""Judging trained versions by held-out examples, against other ways to compute the same."""

import math
import random
from dataclasses import replace
from itertools import product
from math import comb
from statistics import NormalDist

import pytest

from autotune_platform.apprentice.coverage import least_promised
from autotune_platform.apprentice.evidence import Evidence, Rules
from autotune_platform.apprentice.pairs import Pair
from autotune_platform.apprentice.validation.comparing import Difference, compare
from autotune_platform.apprentice.validation.gating import SaidWith, gate_of
from autotune_platform.apprentice.validation.judging import Bar, HeldOutAnswer, Objection, judge
from autotune_platform.apprentice.validation.measuring import (
    could_pass,
    fewest_scores,
    measured,
    most_telling,
    weighed,
)

RULES = Rules(graduation=0.9, coaching=0.8, emergency=0.6)
BAR = Bar(RULES, margin=0.03, timeout_ms=2_000)


def differences(better, worse, inputs):
    equal = inputs - better - worse
    return [Difference(value) for value in [1] * better + [-1] * worse + [0] * equal]


def tango(better, worse, inputs, margin):
    """The statistic as Tango's paper has it (1998, equation 12)."""
    twice, shift = 2 * inputs, -margin
    linear = -better - worse + (twice - better + worse) * shift
    root = math.sqrt(linear**2 + 4 * twice * worse * shift * (1 - shift))
    share = (root - linear) / (2 * twice)
    return (better - worse - inputs * shift) / math.sqrt(inputs * (2 * share + shift * (1 - shift)))


def answers(*, right=400, wrong=0, **fields):
    made = {"propensity": 1.0, "before": None, "is_valid": True, "milliseconds": 12, **fields}
    scores = [1.0] * right + [0.0] * wrong
    return [HeldOutAnswer(f"g{at:04d}", score=score, **made) for at, score in enumerate(scores)]


@pytest.mark.parametrize(
    ("better", "worse", "inputs", "margin"),
    [
        (0, 0, 100, 0.03),
        (3, 2, 200, 0.03),
        (16, 16, 400, 0.01),
        (10, 2, 50, 0.05),
        (0, 1, 150, 0.05),
    ],
)
def test_of_scores_of_0_and_1_the_comparison_is_tangos(better, worse, inputs, margin):
    found = differences(better, worse, inputs)
    level = 1 - NormalDist().cdf(tango(better, worse, inputs, margin))
    assert compare(found, margin=margin, alpha=level * (1 + 1e-6)).is_no_worse
    assert not compare(found, margin=margin, alpha=level * (1 - 1e-6)).is_no_worse


def test_power_is_what_the_design_says_of_400_inputs():
    found = compare(differences(16, 16, 400), margin=0.01, alpha=0.05)
    assert found.power == pytest.approx(0.17, abs=0.005)
    assert not found.is_no_worse
    found = compare(differences(200, 200, found.inputs_for_power), margin=0.01, alpha=0.05)
    assert found.inputs > 4_000


@pytest.mark.parametrize("inputs", [30, 60])
@pytest.mark.parametrize("margin", [0.03, 0.1])
def test_a_version_that_is_worse_by_the_margin_passes_as_seldom_as_it_may(inputs, margin):
    """Exactly, over all tables: worse on ``margin`` more of the inputs than it is better."""
    for differing in (margin, 1.5 * margin, 0.3):
        worse, better = (differing + margin) / 2, (differing - margin) / 2
        passing = 0.0
        for ups, downs in product(range(inputs + 1), repeat=2):
            if ups + downs > inputs:
                continue
            chance = (
                comb(inputs, ups)
                * comb(inputs - ups, downs)
                * better**ups
                * worse**downs
                * (1 - differing) ** (inputs - ups - downs)
            )
            if chance > 1e-7:
                found = compare(differences(ups, downs, inputs), margin=margin, alpha=0.05)
                passing += chance * found.is_no_worse
        assert passing < 0.065


def test_fractions_and_weights_keep_the_level_too():
    chance = random.Random(7)
    passed = 0
    for _ in range(400):
        drawn = [
            Difference(
                chance.choices([-1, -1 / 3, 0, 1 / 3], [0.02, 0.06, 0.89, 0.03])[0],
                chance.choice([1, 20]),
            )
            for _ in range(150)
        ]
        passed += compare(drawn, margin=0.03, alpha=0.05).is_no_worse
    assert passed / 400 < 0.09


def test_models_that_never_differ_need_as_many_inputs_as_rule_the_margin_out():
    assert not compare(differences(0, 0, 80), margin=0.03, alpha=0.05).is_no_worse
    found = compare(differences(0, 0, 100), margin=0.03, alpha=0.05)
    assert found.is_no_worse
    assert (found.power, found.inputs_for_power) == (None, None)
    assert compare([], margin=0.03, alpha=0.05) is None


def test_u_of_the_hold_out_is_that_of_evidence():
    chance = random.Random(3)
    scores = [chance.choice([1.0] * 9 + [0.5]) for _ in range(200)]
    evidence = Evidence()
    for at, score in enumerate(scores, start=1):
        evidence = evidence.fold(Pair(at, score, is_drawn=True, at=0), RULES)
    found = measured([(score, 1.0) for score in scores], threshold=0.9, level=40)
    assert found.log_wealth == pytest.approx(evidence.mean_wealth.logarithm, rel=1e-12)


def test_the_bound_is_where_u_reaches_its_level():
    scores = [(1.0, 1.0)] * 300 + [(1.0, 0.2)] * 100 + [(0.0, 1.0)] * 4
    found = measured(scores, threshold=0.9, level=40)
    assert found.is_above
    below = measured(scores, threshold=found.bound - 1e-6, level=40)
    above = measured(scores, threshold=found.bound + 1e-6, level=40)
    assert (below.is_above, above.is_above) == (True, False)


@pytest.mark.parametrize("weight", [1.0, 0.1])
def test_a_version_at_the_threshold_passes_as_seldom_as_alpha_whatever_the_weights(weight):
    """The weighted mean is at the threshold: the heavy half agrees less, the light one more."""
    chance = random.Random(11)
    passed = 0
    for _ in range(1_000):
        heavy = [(float(chance.random() < 0.895), 1.0) for _ in range(200)]
        light = [(float(chance.random() < 0.9 + 0.005 / weight), weight) for _ in range(200)]
        passed += measured([*heavy, *light], threshold=0.9, level=40).is_above
    assert passed / 1_000 <= 1 / 40


def test_the_fewest_scores_are_the_fewest():
    fewest = fewest_scores(threshold=0.9, level=40)
    assert could_pass([1.0] * fewest, threshold=0.9, level=40)
    assert not could_pass([1.0] * (fewest - 1), threshold=0.9, level=40)
    assert weighed([2, 1, 0.5]) == [1, 0.5, 0.25]


def test_a_good_version_passes():
    found = judge(answers(right=400, wrong=8), BAR)
    assert (found.has_passed, found.objections) == (True, ())
    assert found.agreement.bound > 0.9
    assert found.comparison is None


def test_each_objection_is_told():
    assert judge([], BAR).objections == (
        Objection.TOO_FEW,
        Objection.AGREEMENT,
        Objection.INVALID,
    )
    few = judge(answers(right=20), BAR)
    assert few.objections == (Objection.TOO_FEW, Objection.AGREEMENT)
    assert few.groups < few.fewest_groups
    assert judge(answers(right=360, wrong=40), BAR).objections == (Objection.AGREEMENT,)
    worse = [*answers(right=380, before=1.0), *answers(right=0, wrong=20, before=1.0)]
    assert Objection.WORSE in judge(worse, BAR).objections
    assert judge(answers(is_valid=False), BAR).objections == (Objection.INVALID,)
    assert judge(answers(milliseconds=2_001), BAR).objections == (Objection.SLOW,)


def test_one_slow_answer_in_twenty_is_forgiven():
    found = judge([*answers(right=380), *answers(right=20, milliseconds=9_000)], BAR)
    assert found.slow_ms == 12


def test_a_group_counts_once_however_many_examples_it_has():
    often = [replace(one, group="same") for one in answers(right=1_000)]
    found = judge(often, BAR)
    assert (found.examples, found.groups) == (1_000, 1)
    assert found.objections == (Objection.TOO_FEW, Objection.AGREEMENT)


def test_later_versions_of_a_definition_have_to_show_more():
    third = Bar(Rules(graduation=0.9, coaching=0.8, emergency=0.6, attempt=3), 0.03, 2_000)
    assert third.level == pytest.approx(6 * BAR.level)
    assert third.fewest_groups > BAR.fewest_groups
    few = answers(right=BAR.fewest_groups)
    assert judge(few, BAR).has_passed
    assert Objection.TOO_FEW in judge(few, third).objections


def test_examples_that_chance_seldom_drew_stand_for_more():
    """The mean of what was drawn once in ten times, and agrees less, weighs ten times as much."""
    found = judge([*answers(right=100), *drawn(right=800, wrong=200)], BAR)
    assert found.agreement.mean == pytest.approx((100 + 800 * 10) / (100 + 10_000))
    assert found.objections == (Objection.AGREEMENT,)


def test_a_few_spot_checks_keep_many_examples_from_saying_nothing():
    """Beside them each of phase 1 would be a bet of a fiftieth, and none of them show anything."""
    checks = drawn(right=18, wrong=2, propensity=0.02)
    held = [*answers(right=970, wrong=30), *checks]
    found = judge(held, BAR)
    assert found.objections == ()
    assert (found.examples, found.groups) == (1_020, 1_000)
    assert BAR.is_in_reach(one.propensity for one in held)

    weights = weighed(1 / one.propensity for one in held)
    pairs = [(one.score, weight) for one, weight in zip(held, weights, strict=True)]
    assert not measured(pairs, threshold=RULES.graduation, level=BAR.level).is_above


@pytest.mark.parametrize(
    ("propensities", "is_enough"),
    [
        ([1.0] * BAR.fewest_groups, True),
        ([1.0] * (BAR.fewest_groups - 1), False),
        ([0.05] * BAR.fewest_groups, True),
        # Beside some of a tenth, many of all are bets of a tenth, and are left out.
        ([1.0] * (BAR.fewest_groups - 1) + [0.1] * 2, False),
        ([1.0] * BAR.fewest_groups + [0.1] * 2, True),
        # As many rows as it takes, of which those that decide are too light.
        ([1.0] * (BAR.fewest_groups // 2) + [0.5] * (BAR.fewest_groups // 2), False),
    ],
)
def test_groups_are_worth_as_many_of_one_weight(propensities, is_enough):
    assert BAR.is_in_reach(propensities) is is_enough
    assert (BAR.worth(propensities) >= BAR.fewest_groups) is is_enough
    assert 0 < BAR.worth(propensities) <= len(propensities)


def test_which_examples_decide_follows_from_how_probable_they_were():
    assert most_telling([]) == 0
    assert most_telling([1.0] * 100 + [0.1] * 99) == 1
    assert most_telling([1.0] * 100 + [0.1] * 100) == 0.1
    assert most_telling([1.0] * 100 + [0.5] * 90) == 0.5


def drawn(*, right, wrong, propensity=0.1):
    made = answers(right=right, wrong=wrong, propensity=propensity)
    return [replace(one, group=f"drawn {one.group}") for one in made]


GRID = [place / 20 for place in range(19, -1, -1)]
LEVEL = BAR.level


def said(chance, *, count, propensity=1.0, sure=0.98, unsure=0.5):
    """Answers that agree often above a confidence of a half, and seldom below."""
    found = []
    for _ in range(count):
        confidence = chance.random()
        mean = sure if confidence >= 0.5 else unsure
        found.append(SaidWith(confidence, float(chance.random() < mean), propensity))
    return found


def test_a_gate_promises_what_the_hold_out_bears_out():
    gate = gate_of(said(random.Random(1), count=800), GRID, target=0.9, level=LEVEL)
    assert 0.4 <= gate.confidence <= 0.5
    assert gate.coverage == pytest.approx(1 - gate.confidence, abs=0.05)
    assert gate.agreement > 0.9
    assert gate.groups == pytest.approx(800 * gate.coverage)
    assert gate.least_coverage == pytest.approx(least_promised(gate.coverage, 800))


def test_groups_that_were_drawn_seldom_say_less_and_stand_for_more():
    """A half that is drawn one time in ten weighs ten times as much, and is all that there is."""
    chance = random.Random(2)
    always = said(chance, count=400, sure=0.98, unsure=0.98)
    seldom = said(chance, count=400, propensity=0.1)
    gate = gate_of([*always, *seldom], GRID, target=0.9, level=LEVEL)
    assert gate.confidence >= 0.4, "of the half that weighs, the unsure ones do not agree"
    # 800 groups, of which one half has a tenth of the weight, are worth some 480.
    assert gate.least_coverage == pytest.approx(least_promised(gate.coverage, 480), abs=0.005)


def test_gates_promise_too_much_as_seldom_as_they_may():
    """Agreement that is the target at each confidence: no gate is right."""
    chance = random.Random(3)
    wrong = 0
    for _ in range(300):
        rows = said(chance, count=150, sure=0.9, unsure=0.9)
        rows += said(chance, count=150, sure=0.9, unsure=0.9, propensity=0.5)
        wrong += gate_of(rows, GRID, target=0.9, level=10) is not None
    assert wrong / 300 < 0.1 + 3 * math.sqrt(0.1 * 0.9 / 300)


def test_behind_a_gate_only_what_passes_it_has_to_agree():
    chance = random.Random(4)
    (one_answer,) = answers(right=1)
    rows = [
        replace(one_answer, group=f"g{at}", score=one.score, confidence=one.confidence)
        for at, one in enumerate(said(chance, count=800))
    ]
    without = judge(rows, BAR, GRID)
    assert without.objections == (Objection.AGREEMENT,)
    assert without.gate is not None, "it is known all the same"
    behind = judge(rows, replace(BAR, is_gated=True), GRID)
    assert (behind.has_passed, behind.gate) == (True, without.gate)
    bad = [replace(one, score=0.0) for one in rows]
    assert Objection.AGREEMENT in judge(bad, replace(BAR, is_gated=True), GRID).objections


def test_a_version_that_does_not_say_how_sure_it_is_has_no_gate():
    found = judge(answers(), BAR, GRID)
    assert (found.has_passed, found.gate) == (True, None)
    assert judge(answers(confidence=0.9), BAR).gate is None


def test_repeats_of_an_input_are_one_to_a_gate():
    rows = answers(right=60, confidence=0.9)
    assert judge(rows, BAR, GRID).gate.groups == 60
    assert judge([*rows, *rows], BAR, GRID).gate.groups == 60
