"""What is claimed of an edit, and what it is refused for."""

import math

import numpy as np
import pytest
from scipy import stats

from autotune_platform.statistics.guards import (
    Outcome,
    Refusal,
    assess,
    bias_change,
    inapplicable_scored,
    newly_positive,
    share_scored,
)
from autotune_platform.statistics.intervals import CONFIDENCE, NoInterval, kappa_with_interval
from autotune_platform.statistics.kappa import quadratic_kappa
from autotune_platform.statistics.labels import Insufficient, sufficiency
from autotune_platform.statistics.looks import (
    alpha_of_look,
    change_in_kappa,
    confidence_of_look,
    detectable_change,
)

N = 120
GROUPS = np.arange(N) // 2


def judged(truth, random, *, noise, bias=0.0):
    raw = truth + bias + random.normal(0, noise, truth.size)
    return np.clip(np.round(raw), -3, 3)


@pytest.fixture
def random():
    return np.random.default_rng(8)


@pytest.fixture
def truth(random):
    return random.integers(-3, 4, N).astype(float)


def test_levels_of_all_looks_stay_below_five_in_a_hundred():
    alphas = [alpha_of_look(look) for look in range(1, 60)]
    assert alphas[:3] == [0.025, 0.0125, 0.00625]
    assert math.fsum(alphas) <= 0.05
    assert alpha_of_look(100_000) > 0
    with pytest.raises(ValueError, match="from 1"):
        alpha_of_look(0)


def test_intervals_of_a_version_have_the_level_of_its_look() -> None:
    assert confidence_of_look(0) == CONFIDENCE
    for look in range(1, 40):
        assert (1 - confidence_of_look(look)) / 2 == pytest.approx(alpha_of_look(look), rel=1e-3)
    assert confidence_of_look(39) < confidence_of_look(100_000) < 1, "its interval has ends"
    with pytest.raises(ValueError, match="from 0"):
        confidence_of_look(-1)


def test_the_change_is_the_jackknife_made_by_hand(truth, random):
    old, new = judged(truth, random, noise=2), judged(truth, random, noise=1)

    def delta(rows):
        kappas = [quadratic_kappa(truth[rows], each[rows]).value for each in (new, old)]
        return kappas[0] - kappas[1]

    keys = np.unique(GROUPS)
    without = np.array([delta(key != GROUPS) for key in keys])
    se = math.sqrt((len(keys) - 1) / len(keys) * ((without - without.mean()) ** 2).sum())
    change = change_in_kappa(truth, old, new, GROUPS, look=2)
    t = stats.t.ppf(1 - 0.0125, len(keys) - 1)
    assert change.delta == pytest.approx(delta(slice(None)))
    assert change.se == pytest.approx(se)
    assert change.low == pytest.approx(change.delta - t * se)
    assert change.detectable == pytest.approx((t + stats.t.ppf(0.8, len(keys) - 1)) * se)


def test_what_labels_could_find_is_known_before_an_edit_is_tried(truth, random):
    ratios = []
    for _ in range(50):
        before, after = (judged(truth, random, noise=1.5) for _ in range(2))
        known = kappa_with_interval(truth, before, GROUPS)
        foreseen = [detectable_change(known, look=look) for look in (1, 2, 9)]
        assert foreseen == sorted(foreseen)
        found = change_in_kappa(truth, before, after, GROUPS, look=1)
        ratios.append(foreseen[0] / found.detectable)
    # Both err by chance of their own here, as is assumed; only the samples are the same.
    assert 0.95 < np.mean(ratios) < 1.35
    assert detectable_change(kappa_with_interval([1], [2], [1]), look=1) is None
    assert detectable_change(kappa_with_interval([], [], []), look=1) is None


def test_one_large_group_among_small_ones_leaves_few_degrees_of_freedom(truth, random):
    old, new = judged(truth, random, noise=2), judged(truth, random, noise=0.5)
    even = change_in_kappa(truth, old, new, np.arange(N), look=1)
    assert even.effective_groups == N
    groups = np.minimum(np.arange(N), 60)  # the last sixty are one group
    change = change_in_kappa(truth, old, new, groups, look=1)
    effective = N**2 / (60 + 60**2)
    assert (change.groups, change.effective_groups) == (61, pytest.approx(effective))
    t = stats.t.ppf(1 - 0.025, effective - 1)
    assert change.low == pytest.approx(change.delta - t * change.se)
    alone = np.minimum(np.arange(N), 20)
    change = change_in_kappa(truth, old, new, alone, look=1)
    assert change.delta > 0
    assert (change.missing_because, change.is_better) == (NoInterval.UNEVEN_GROUPS, False)


@pytest.mark.parametrize(
    ("truth", "old", "new", "reason"),
    [
        ([], [], [], NoInterval.UNDEFINED),
        ([1, 1], [1, 1], [1, 2], NoInterval.UNDEFINED),
        ([1], [2], [3], NoInterval.ONE_GROUP),
        ([1, 2, 3], [1, 1, 1], [2, 2, 2], NoInterval.NO_VARIATION),
        ([1, 1, 3], [1, 1, 1], [1, 1, 3], NoInterval.UNDEFINED_REPLICATE),
    ],
)
def test_a_change_that_cannot_be_tested_is_neither_better_nor_worse(truth, old, new, reason):
    change = change_in_kappa(truth, old, new, list(range(len(truth))), look=1)
    assert change.missing_because is reason
    assert not change.is_better
    assert not change.is_worse


def test_a_clear_improvement_is_acceptable_once_what_turns_positive_has_consent(truth, random):
    old, new = judged(truth, random, noise=3), judged(truth, random, noise=0.6)
    found = assess(truth, old, new, GROUPS, look=1)
    assert (found.outcome, found.refusals) == (Outcome.ACCEPTABLE, ())
    row = int(np.flatnonzero((truth == -2) & (old <= 0))[0])
    new[row] = 1
    found = assess(truth, old, new, GROUPS, look=1)
    assert found.outcome is Outcome.NEEDS_CONSENT
    assert found.newly_positive.tolist() == [row]


def test_a_clear_deterioration_is_refused(truth, random):
    old, new = judged(truth, random, noise=0.6), judged(truth, random, noise=3)
    found = assess(truth, old, new, GROUPS, look=1)
    assert (found.outcome, found.refusals) == (Outcome.REFUSED, (Refusal.AGREES_LESS,))


def test_the_same_again_is_no_evidence(truth, random):
    old = judged(truth, random, noise=1)
    assert assess(truth, old, old, GROUPS, look=1).outcome is Outcome.NO_EVIDENCE


def test_a_later_look_asks_for_more(truth, random):
    old, new = judged(truth, random, noise=1.6), judged(truth, random, noise=1.2)
    outcomes = [assess(truth, old, new, GROUPS, look=look).outcome for look in (1, 40)]
    assert outcomes == [Outcome.ACCEPTABLE, Outcome.NO_EVIDENCE]


def test_who_abstains_where_it_is_hard_is_refused(truth, random):
    old = judged(truth, random, noise=2.5)
    new = np.where(np.abs(old - truth) > 3, np.nan, truth)
    found = assess(truth, old, new, GROUPS, look=1)
    assert found.change.is_better
    assert (found.outcome, found.refusals) == (Outcome.REFUSED, (Refusal.SCORES_LESS,))


def test_a_better_kappa_does_not_excuse_a_larger_bias():
    random = np.random.default_rng(9)
    truth = random.integers(-3, 3, N).astype(float)
    old = judged(truth, random, noise=3)
    old -= np.round(np.mean(old - truth))
    found = assess(truth, old, truth + 1, GROUPS, look=1)
    assert found.change.is_better
    assert found.refusals == (Refusal.BIAS_GROWS,)


def test_who_scores_what_does_not_apply_is_refused_or_needs_consent(truth, random):
    old, new = judged(truth, random, noise=3), judged(truth, random, noise=0.6)
    left = slice(0, 40)
    truth[left] = old[left] = new[left] = np.nan
    assert assess(truth, old, new, GROUPS, look=1).outcome is Outcome.ACCEPTABLE
    new[0] = 1
    found = assess(truth, old, new, GROUPS, look=1)
    assert found.change.is_better, "κ does not see it"
    assert (found.outcome, found.inapplicable.holds) == (Outcome.NEEDS_CONSENT, True)
    assert found.newly_positive.size == 0
    new[left] = 1
    found = assess(truth, old, new, GROUPS, look=1)
    assert found.change.is_better
    assert (found.outcome, found.refusals) == (Outcome.REFUSED, (Refusal.SCORES_INAPPLICABLE,))
    assert (found.inapplicable.old, found.inapplicable.new) == (0, 40)


@pytest.mark.parametrize(("grown", "fallen", "holds"), [(4, 0, True), (5, 0, False), (9, 4, True)])
def test_groups_whose_samples_get_a_level_are_counted_and_not_samples(grown, fallen, holds):
    each = 3
    old = [None] * each * grown + [1] * each * fallen
    new = [1] * each * grown + [None] * each * fallen
    groups = np.repeat(np.arange(grown + fallen), each)
    found = inapplicable_scored([None] * groups.size, old, new, groups)
    assert found.p == pytest.approx(
        stats.binomtest(grown, grown + fallen, alternative="greater").pvalue
    )
    assert found.holds is holds
    assert found.asks is (grown > fallen)


def test_two_points_less_are_allowed_and_no_more():
    old = np.zeros(100)
    for missing, holds in ((0, True), (2, True), (3, False)):
        new = old.copy()
        new[:missing] = np.nan
        assert share_scored(old, new).holds is holds
    assert share_scored([], []).holds


def test_bias_may_change_sides_and_shrink_but_not_grow(truth, random):
    old = judged(truth, random, noise=0.7, bias=0.0)
    assert bias_change(truth, truth - 1, truth + 1, GROUPS).holds
    assert bias_change(truth, truth - 1, old, GROUPS).holds
    grown = bias_change(truth, old, truth + 1, GROUPS)
    assert not grown.holds
    assert grown.new == 1
    assert bias_change([], [], [], []).old is None
    assert bias_change([1, 2], [1, 2], [2, 3], ["a", "a"]).low is None


def test_only_the_clearly_bad_that_turn_positive_need_consent():
    truth = [-3, -2, -2, -1, -3, -2, None, -2]
    old = [0, -1, 1, 0, None, 0, 0, 0]
    new = [1, 3, 2, 3, 1, 0, 3, None]
    assert newly_positive(truth, old, new).tolist() == [0, 1, 4]


@pytest.mark.parametrize(
    ("labels", "because"),
    [
        ([], Insufficient.FEW_LABELS),
        ([1] * 30 + [2] * 19, Insufficient.FEW_LABELS),
        ([1] * 30 + [2] * 20, None),
        ([1] * 30 + [2] * 20 + [None] * 9, None),
        ([1] * 86 + [2] * 14, Insufficient.FEW_OUTSIDE_COMMONEST),
        ([1] * 85 + [2] * 7 + [3] * 8, None),
    ],
)
def test_fifty_labels_and_fifteen_outside_the_commonest_level_are_needed(labels, because):
    assert sufficiency(labels).because is because
    assert sufficiency(labels).is_sufficient == (because is None)


def test_few_labels_claim_nothing(random):
    truth = random.integers(-3, 4, 49).astype(float)
    found = assess(truth, -truth, truth, np.arange(49), look=1)
    assert found.outcome is Outcome.INSUFFICIENT
