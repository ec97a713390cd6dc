"""A canary's steps follow from its pairs: thirty of them, or one after a day."""

from dataclasses import replace

import pytest

from autotune_platform.apprentice.canary import (
    BY_HAND,
    LONGEST_STEP_SECONDS,
    STEP_PAIRS,
    Canary,
    Shares,
)
from autotune_platform.apprentice.evidence import Evidence, Rules, folded
from autotune_platform.apprentice.pairs import Pair, PairError

RULES = Rules(graduation=0.5, coaching=0.3, emergency=0.1, false_alarm_pairs=100)
SHARES = Shares([0.05, 0.25, 1], is_automatic=True)


def pairs(count: int, *, score: float = 1.0, after: int = 0, in_canary: bool = True) -> list[Pair]:
    return [
        Pair(after + place + 1, score, is_drawn=True, at=float(after + place), in_canary=in_canary)
        for place in range(count)
    ]


def graduated() -> tuple[list[Pair], Evidence]:
    before: list[Pair] = []
    evidence = Evidence()
    while evidence.graduated_at is None:
        (pair,) = pairs(1, after=len(before), in_canary=False)
        before.append(pair)
        evidence = evidence.fold(pair, RULES)
    return before, evidence


def test_each_step_takes_pairs_of_its_own() -> None:
    before, evidence = graduated()
    assert evidence.canary == Canary(since=float(len(before) - 1))
    after = folded([*before, *pairs(STEP_PAIRS - 1, after=len(before))], RULES)
    assert (after.canary.steps, after.canary.pairs) == (0, STEP_PAIRS - 1)
    shares = []
    for steps in range(4):
        all_pairs = [*before, *pairs(steps * STEP_PAIRS, after=len(before))]
        canary = folded(all_pairs, RULES).canary
        assert canary.steps == steps
        shares.append((SHARES.of(canary), SHARES.have_passed(canary)))
    assert shares == [(0.05, False), (0.25, False), (1, False), (1, True)]


def test_pairs_from_outside_the_canary_pass_no_step() -> None:
    before, _ = graduated()
    outside = pairs(200, after=len(before), in_canary=False)
    undrawn = [
        replace(one, is_drawn=False, sequence=one.sequence + 200)
        for one in pairs(200, after=len(before))
    ]
    canary = folded([*before, *outside, *undrawn], RULES).canary
    assert (canary.steps, canary.pairs) == (0, 0)


def test_after_a_day_one_pair_is_enough() -> None:
    before, evidence = graduated()
    (late,) = pairs(1, after=len(before))
    a_day_later = replace(late, at=evidence.canary.since + LONGEST_STEP_SECONDS)
    assert evidence.fold(a_day_later, RULES).canary == Canary(1, 0, a_day_later.at)
    a_bit_earlier = replace(late, at=a_day_later.at - 1)
    assert evidence.fold(a_bit_earlier, RULES).canary.steps == 0


def test_an_alarm_takes_the_canary_back_and_it_begins_anew() -> None:
    before, _ = graduated()
    stepped = [*before, *pairs(STEP_PAIRS + 1, after=len(before))]
    assert folded(stepped, RULES).canary.steps == 1
    bad = stepped
    while not (evidence := folded(bad, RULES)).alarms:
        bad = [*bad, *pairs(1, score=0.0, after=len(bad))]
    assert (evidence.graduated_at, evidence.canary) == (None, Canary())
    again = folded([*bad, *pairs(40, after=len(bad))], RULES)
    assert again.graduated_at is not None
    assert again.canary.since == float(again.graduated_at - 1)


def test_it_is_the_same_through_json() -> None:
    before, _ = graduated()
    evidence = folded([*before, *pairs(40, after=len(before))], RULES)
    assert evidence.canary.pairs
    assert Evidence.from_json(evidence.to_json(RULES), RULES) == evidence


def test_without_training_a_person_promotes() -> None:
    by_hand = Shares()
    assert by_hand.of(Canary(steps=7)) == BY_HAND[0]
    assert not by_hand.have_passed(Canary(steps=7))


def test_whether_a_pair_is_of_the_canary_is_true_or_false() -> None:
    with pytest.raises(PairError, match="in_canary"):
        Pair(1, 1.0, is_drawn=True, at=0.0, in_canary=1)  # type: ignore[arg-type]
