"""What is foretold of a graduation is what the product's own evidence comes to."""

from collections.abc import Sequence

import numpy as np
import pytest

from autotune_platform.apprentice.agreement import counted
from autotune_platform.apprentice.betting import NO_WEALTH_YET
from autotune_platform.apprentice.estimating import MOST_PAIRS, NEVER, PairsLeft, pairs_left
from autotune_platform.apprentice.evidence import Evidence, Rules
from autotune_platform.apprentice.pairs import Pair

RULES = Rules(graduation=0.9, coaching=0.8, emergency=0.6)
LEVEL = RULES.level(0)


def folded(evidence: Evidence, scores: Sequence[float]) -> Evidence:
    """Return evidence with more scores, as the product folds them, up to its graduation."""
    for score in scores:
        if evidence.graduated_at is not None:
            break
        pair = Pair(evidence.sequence + 1, float(score), is_drawn=True, at=0.0)
        evidence = evidence.fold(pair, RULES)
    return evidence


def took(start: Evidence, draws: np.ndarray) -> list[int]:
    """Return after how many pairs more each run graduated, by the product's own fold."""
    return [folded(start, run).sequence - start.sequence for run in draws]


def assert_foretold(told: PairsLeft, real: Sequence[int]) -> None:
    """Check that as many runs took fewer pairs as was said, within what 300 runs may be off."""
    assert told.low is not None
    assert told.median is not None
    assert told.high is not None
    for pairs, share in ((told.low, 0.1), (told.median, 0.5), (told.high, 0.9)):
        fewer = sum(one < pairs for one in real) / len(real)
        as_many = sum(one <= pairs for one in real) / len(real)
        assert fewer - 0.1 <= share <= as_many + 0.1, (pairs, share, fewer, as_many)


@pytest.mark.parametrize(
    "values",
    [
        pytest.param({0.0: 7, 1.0: 93}, id="agrees in 93 %"),
        pytest.param({0.0: 2, 1.0: 98}, id="agrees in 98 %"),
        pytest.param({0.5: 8, 0.75: 16, 1.0: 76}, id="agrees in parts"),
    ],
)
def test_pairs_until_graduation_are_those_that_the_fold_takes(values: dict[float, int]) -> None:
    random = np.random.default_rng(3)
    weights = np.array(list(values.values())) / sum(values.values())
    draws = random.choice(list(values), size=(300, 4_000), p=weights)
    scores = counted(value for value, count in values.items() for _ in range(count))
    told = pairs_left(scores, wealth=NO_WEALTH_YET, threshold=0.9, level=LEVEL)

    assert_foretold(told, took(Evidence(), draws))


def test_what_was_won_before_is_counted() -> None:
    random = np.random.default_rng(5)
    start = folded(Evidence(), random.random(150) < 0.94)
    assert start.graduated_at is None
    scores = {0: 6, 1000: 94}

    told = pairs_left(scores, wealth=start.wealth, threshold=0.9, level=LEVEL)
    anew = pairs_left(scores, wealth=NO_WEALTH_YET, threshold=0.9, level=LEVEL)

    assert_foretold(told, took(start, random.random((300, 4_000)) < 0.94))
    assert told.median != anew.median


@pytest.mark.parametrize("agrees", [0, 500, 880, 900, 901])
def test_at_this_agreement_it_never_graduates(agrees: int) -> None:
    scores = {0: 1000 - agrees, 1000: agrees}

    assert pairs_left(scores, wealth=NO_WEALTH_YET, threshold=0.9, level=LEVEL) == NEVER


def test_beyond_what_is_foretold_it_says_nothing() -> None:
    told = pairs_left({0: 96, 1000: 904}, wealth=NO_WEALTH_YET, threshold=0.9, level=LEVEL)

    assert told.high is None
    assert told.low is None or told.low <= MOST_PAIRS


def test_the_same_question_has_the_same_answer() -> None:
    asked = [
        pairs_left({0: 5, 1000: 95}, wealth=NO_WEALTH_YET, threshold=0.9, level=LEVEL)
        for _ in range(2)
    ]

    assert asked[0] == asked[1]


def test_many_values_of_scores_are_taken_together() -> None:
    random = np.random.default_rng(2)
    scores = counted(np.clip(random.normal(0.95, 0.1, 3_000), 0, 1))
    assert len(scores) > 200
    told = pairs_left(scores, wealth=NO_WEALTH_YET, threshold=0.9, level=LEVEL)

    draws = random.choice(
        [part / 1000 for part in scores],
        size=(300, 2_000),
        p=np.array(list(scores.values())) / sum(scores.values()),
    )
    assert_foretold(told, took(Evidence(), draws))
