"""The gate's threshold: how often its promise is broken, by the product's own function."""

import math
import random
import statistics

import pytest

from autotune_platform.apprentice.students.gate import p_value, rows_to_pass, threshold

TARGET, ALPHA = 0.9, 0.1
GRID = [place / 20 for place in range(19, -1, -1)]
ROUNDS = 400


def even(confidence):
    """Agreement that is the target everywhere: each threshold is one that must not be returned."""
    del confidence
    return TARGET


def rising(confidence):
    """Agreement that grows with confidence; all above 0.6 or so together are at the target."""
    return 0.75 + 0.25 * confidence


def falling(confidence):
    """A confidence that says the contrary."""
    return 1 - 0.15 * confidence


def agreement_above(agreement, candidate):
    """The true agreement of what a threshold accepts, where confidence is uniform from 0 to 1."""
    steps = [candidate + (1 - candidate) * (place + 0.5) / 1_000 for place in range(1_000)]
    return statistics.fmean(agreement(one) for one in steps)


def drawn(chance, agreement, rows, *, in_parts):
    confidences, scores = [], []
    for _ in range(rows):
        confidence = chance.random()
        confidences.append(confidence)
        mean = agreement(confidence)
        if in_parts:  # three fields that agree or not, each by itself
            scores.append(sum(chance.random() < mean for _ in range(3)) / 3)
        else:
            scores.append(float(chance.random() < mean))
    return confidences, scores


def broken(choose, agreement, *, rows, in_parts):
    """How often of all rounds the threshold that is chosen accepts too little agreement."""
    chance = random.Random(20)
    true = {candidate: agreement_above(agreement, candidate) for candidate in GRID}
    count = 0
    for _ in range(ROUNDS):
        chosen = choose(*drawn(chance, agreement, rows, in_parts=in_parts))
        # Nothing is promised of a threshold whose agreement is the target itself but by a hair.
        count += chosen is not None and true[chosen] <= TARGET + 1e-9
    return count / ROUNDS


def ours(confidences, scores):
    found = threshold(confidences, scores, target=TARGET, alpha=ALPHA, candidates=GRID)
    return found and found.confidence


def wishing(confidences, scores):
    found = threshold(
        confidences, scores, target=TARGET, alpha=ALPHA, candidates=GRID, wished=TARGET + 0.03
    )
    return found and found.confidence


def by_the_mean(confidences, scores):
    """The lowest threshold whose accepted rows agree often enough: a point estimate."""
    kept = None
    for candidate in GRID:
        pairs = zip(confidences, scores, strict=True)
        accepted = [score for confidence, score in pairs if confidence >= candidate]
        if accepted and statistics.fmean(accepted) >= TARGET:
            kept = candidate
    return kept


# Three standard deviations of a share of 400 rounds.
_MOST = ALPHA + 3 * math.sqrt(ALPHA * (1 - ALPHA) / ROUNDS)


@pytest.mark.parametrize("agreement", [even, rising, falling])
@pytest.mark.parametrize("in_parts", [False, True])
@pytest.mark.parametrize("choose", [ours, wishing])
def test_the_promise_is_broken_as_seldom_as_it_says(choose, agreement, in_parts):
    assert broken(choose, agreement, rows=300, in_parts=in_parts) <= _MOST


@pytest.mark.parametrize("agreement", [even, rising])
def test_a_point_estimate_breaks_it_far_more_often(agreement):
    """So the test above can fail."""
    assert broken(by_the_mean, agreement, rows=300, in_parts=False) > 2 * _MOST


def test_a_good_student_is_let_through_whole():
    chance = random.Random(1)
    confidences, scores = drawn(chance, lambda _: 0.97, 500, in_parts=False)
    found = threshold(confidences, scores, target=TARGET, alpha=ALPHA, candidates=GRID)
    assert found.confidence == 0
    assert found.coverage == 1
    assert found.rows == 500
    assert found.agreement == pytest.approx(statistics.fmean(scores))
    assert found.p_value <= ALPHA


def test_what_is_unsure_is_kept_out():
    chance = random.Random(1)
    rows = drawn(chance, lambda sure: 0.98 if sure > 0.5 else 0.5, 1_000, in_parts=False)
    found = threshold(*rows, target=TARGET, alpha=ALPHA, candidates=GRID)
    assert 0.3 <= found.confidence <= 0.5


def test_of_those_that_are_shown_the_lowest_with_what_is_wished_is_taken():
    chance = random.Random(1)
    rows = drawn(chance, lambda sure: 0.9 + 0.1 * sure, 2_000, in_parts=False)
    found = [
        threshold(*rows, target=TARGET, alpha=ALPHA, candidates=GRID, wished=wished)
        for wished in (0.0, 0.97, 0.98, 1.0)
    ]
    assert found[0].confidence == 0
    assert [one.confidence for one in found] == sorted(one.confidence for one in found)
    assert found[1].agreement >= 0.97
    assert found[2].agreement >= 0.98
    # None of them agrees in all rows: the one that agrees most is taken.
    assert found[3].agreement == max(one.agreement for one in found) < 1


def test_too_few_rows_show_nothing():
    for scores in ([], [1.0], [1.0] * 20):
        confidences = [0.99] * len(scores)
        assert threshold(confidences, scores, target=0.9, alpha=0.05, candidates=GRID) is None


def test_the_first_failure_ends_it():
    """A lower threshold that would pass by itself is not looked at."""
    confidences = [0.9] * 100 + [0.1] * 2_000
    scores = [0.0] * 100 + [1.0] * 2_000
    assert threshold(confidences, scores, target=0.9, alpha=0.05, candidates=[0.5, 0.0]) is None
    found = threshold(confidences, scores, target=0.9, alpha=0.05, candidates=[0.0])
    assert found.confidence == 0


@pytest.mark.parametrize("target", [0.6, 0.9, 0.99])
def test_p_values_are_no_smaller_than_a_coins(target):
    """Exact for whole scores: the probability of so few failures is never understated."""
    for rows in (10, 100, 500):
        for failures in range(0, rows, max(1, rows // 10)):
            exact = sum(
                math.comb(rows, k) * (1 - target) ** k * target ** (rows - k)
                for k in range(failures + 1)
            )
            assert p_value([0.0] * failures + [1.0] * (rows - failures), target) >= exact - 1e-12


def test_rows_to_pass_do_pass():
    rows = rows_to_pass(target=0.9, alpha=0.05)
    wrong = rows // 20
    assert p_value([0.0] * wrong + [1.0] * (rows - wrong), 0.9) <= 0.05
    assert 100 < rows < 300


def test_arguments_are_checked():
    for changed in (
        {"scores": [1.0]},
        {"candidates": [0.5, 0.5]},
        {"candidates": [0.1, 0.5]},
        {"target": 1.0},
        {"alpha": 0.0},
    ):
        arguments = {"confidences": [], "scores": [], "target": 0.9, "alpha": 0.1}
        arguments |= {"candidates": [0.5], **changed}
        confidences, scores = arguments.pop("confidences"), arguments.pop("scores")
        with pytest.raises(ValueError, match=r"confidence|fall|between"):
            threshold(confidences, scores, **arguments)
