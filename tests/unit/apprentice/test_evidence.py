"""The fold of pairs: what raises graduation, alarm and emergency, and that it rebuilds exactly."""

import json
import math
import random
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune_platform.apprentice.betting import ALARM_BETS, AT_REST, GRADUATION_BETS
from autotune_platform.apprentice.evidence import (
    Evidence,
    MissingPairError,
    Rules,
    RulesError,
    UnusableEvidenceError,
    folded,
)
from autotune_platform.apprentice.pairs import Pair, PairError

RULES = Rules(graduation=0.9, coaching=0.8, emergency=0.6)


def pairs(scores: Iterable[float], *, first: int = 1, drawn: bool = True) -> list[Pair]:
    return [
        Pair(sequence=place, score=score, is_drawn=drawn, at=1_000.0 + place)
        for place, score in enumerate(scores, start=first)
    ]


def exactly(evidence: Evidence) -> str:
    """All of it, floats to the last bit."""
    return repr(evidence)


def made_scores(seed: int, mean: float, count: int) -> list[float]:
    drawn = random.Random(seed)
    return [float(drawn.random() < mean) for _ in range(count)]


scores = st.lists(st.floats(0, 1) | st.sampled_from([0.0, 0.0, 1.0, 1.0]), max_size=60)


@given(scores)
def test_it_is_what_the_formulas_say_in_exact_numbers(given_scores: list[float]) -> None:
    """The oracle counts in fractions, and without the bets' own code."""
    wealth = [Fraction(1)] * len(GRADUATION_BETS)
    levels = {0.8: [Fraction(0)] * len(ALARM_BETS), 0.6: [Fraction(0)] * len(ALARM_BETS)}
    evidence, begun = Evidence(), 0
    for pair in pairs(given_scores):
        evidence = evidence.fold(pair, RULES)
        x, p = Fraction(pair.score), Fraction(9, 10)
        wealth = [
            w * (1 + Fraction(str(share)) / p * (x - p))
            for w, share in zip(wealth, GRADUATION_BETS, strict=True)
        ]
        for c, each in levels.items():
            exact = Fraction(str(c))
            levels[c] = [
                (1 + level) * (1 - Fraction(str(share)) / (1 - exact) * (x - exact))
                for level, share in zip(each, ALARM_BETS, strict=True)
            ]
        if sum(levels[0.8]) / 6 >= 1000:
            wealth, levels[0.8] = [Fraction(1)] * 8, [Fraction(0)] * 6
            begun += 1
        if evidence.emergency_at is not None:
            assert evidence.emergency_at == pair.sequence
            assert sum(levels[0.6]) / 6 >= 999.999
            break
        assert sum(levels[0.6]) / 6 < 1000.001
        assert evidence.alarms == begun
        assert evidence.alarm_level == pytest.approx(float(sum(levels[0.8]) / 6), rel=1e-9)
        assert math.exp(evidence.mean_wealth.logarithm) == pytest.approx(
            float(sum(wealth) / 8), rel=1e-9
        )


@given(scores, st.lists(st.booleans(), min_size=60, max_size=60))
def test_it_rebuilds_to_the_last_bit_through_json(
    given_scores: list[float], written: list[bool]
) -> None:
    rebuilt = folded(pairs(given_scores), RULES)
    cached = Evidence()
    for pair, through_json in zip(pairs(given_scores), written, strict=False):
        cached = cached.fold(pair, RULES)
        if through_json:
            cached = Evidence.from_json(cached.to_json(RULES), RULES)
    assert exactly(cached) == exactly(rebuilt)


@given(scores, st.lists(st.integers(0, 59)))
def test_pairs_that_come_twice_or_late_change_nothing(
    given_scores: list[float], again: list[int]
) -> None:
    made = pairs(given_scores)
    evidence = folded(made, RULES)
    for place in again:
        if place < len(made):
            assert evidence.fold(made[place], RULES) == evidence


def test_the_last_pair_once_more_changes_nothing() -> None:
    evidence = Evidence()
    for pair in pairs([1.0, 0.0, 0.5]):
        evidence = evidence.fold(pair, RULES)
        assert evidence.fold(pair, RULES) is evidence


def test_an_alarm_is_raised_at_the_first_pair_at_which_m_reaches_its_level() -> None:
    """In exact numbers: of scores of 0, M of each bet grows by 1 and its own factor."""
    bets = [Fraction(str(share)) / Fraction(2, 10) for share in ALARM_BETS]
    levels, place = [Fraction(0)] * len(bets), 0
    while sum(levels) / len(levels) < 1_000:
        levels = [
            (1 + level) * (1 + bet * Fraction(8, 10))
            for level, bet in zip(levels, bets, strict=True)
        ]
        place += 1
    rules = Rules(graduation=0.9, coaching=0.8, emergency=0.001)
    assert not folded(pairs([0.0] * (place - 1)), rules).alarms
    assert folded(pairs([0.0] * place), rules).alarmed_at == place
    exact = Rules(0.9, 0.8, 0.001, false_alarm_pairs=int(sum(levels) / len(levels)))
    assert folded(pairs([0.0] * place), exact).alarmed_at == place
    above = replace(exact, false_alarm_pairs=exact.false_alarm_pairs + 1)
    assert not folded(pairs([0.0] * place), above).alarms


def test_a_gap_is_refused() -> None:
    evidence = folded(pairs([1, 1]), RULES)
    with pytest.raises(MissingPairError, match="pair 4 came after pair 2"):
        evidence.fold(pairs([1], first=4)[0], RULES)
    with pytest.raises(MissingPairError):
        folded(pairs([1], first=2), RULES)


@given(scores)
def test_only_pairs_that_chance_drew_count(given_scores: list[float]) -> None:
    evidence = folded(pairs(given_scores, drawn=False), RULES)
    assert evidence == Evidence(sequence=len(given_scores))


def test_pairs_that_all_agree_rest_at_5_7() -> None:
    """So ``false_alarm_pairs`` starts at 100, well above it."""
    evidence = folded(pairs([1.0] * 2_000), RULES)
    assert evidence.alarm_level == pytest.approx(sum((1 - b) / b for b in ALARM_BETS) / 6)
    assert round(evidence.alarm_level, 1) == 5.7
    assert not evidence.alarms


def test_first_level_is_forty_and_later_versions_need_more() -> None:
    assert RULES.level(0) == pytest.approx(40)
    levels = [Rules(0.9, 0.8, 0.6, attempt=k).level(0) for k in range(1, 6)]
    assert levels == pytest.approx([k * (k + 1) / 0.05 for k in range(1, 6)])


def test_all_versions_and_all_new_beginnings_together_cost_alpha_twice() -> None:
    most = 2_000
    first = sum(1 / Rules(0.9, 0.8, 0.6, attempt=k).level(0) for k in range(1, most))
    of_one = sum(1 / RULES.level(alarms) for alarms in range(most))
    assert first == pytest.approx(0.05, rel=0.001)
    assert of_one == pytest.approx(2 / 40, rel=0.001)


def test_it_graduates_when_u_reaches_the_level() -> None:
    evidence, last = Evidence(), Evidence()
    for pair in pairs([1.0] * 200):
        last, evidence = evidence, evidence.fold(pair, RULES)
        if evidence.graduated_at:
            break
    assert evidence.graduated_at == evidence.sequence
    assert math.exp(last.mean_wealth.logarithm) < 40 <= math.exp(evidence.mean_wealth.logarithm)
    assert not last.mean_wealth.reaches(40)
    after = folded(pairs([1.0] * evidence.sequence + [0.0] * 3), RULES)
    assert after.graduated_at == evidence.graduated_at, "U is looked at at each pair, and it stays"


def test_an_alarm_takes_graduation_back_and_u_begins_anew() -> None:
    before = folded(pairs([1.0] * 100), RULES)
    assert before.graduated_at
    evidence, count = before, 100
    while not evidence.alarms:
        count += 1
        evidence = evidence.fold(pairs([0.0], first=count)[0], RULES)
    assert evidence.graduated_at is None
    assert evidence.alarmed_at == count
    assert evidence.levels == AT_REST
    assert evidence.mean_wealth.logarithm == 0
    later = evidence
    while not later.graduated_at and later.emergency_at is None:
        count += 1
        later = later.fold(pairs([1.0], first=count)[0], RULES)
    needed = count - evidence.sequence
    fresh = folded(pairs([1.0] * 200), RULES).graduated_at
    assert fresh is not None
    assert needed > fresh, "each new beginning is one more chance, and needs more"


def test_after_an_emergency_pairs_change_nothing_any_more() -> None:
    evidence, count = Evidence(), 0
    while evidence.emergency_at is None:
        count += 1
        evidence = evidence.fold(pairs([0.0], first=count)[0], RULES)
    late = evidence.fold(pairs([1.0], first=count + 1)[0], RULES)
    assert (late.sequence, late.pairs) == (count + 1, count + 1)
    assert late.emergency_at == evidence.emergency_at
    assert (late.wealth, late.levels) == (evidence.wealth, evidence.levels)
    assert late.emergency_levels == evidence.emergency_levels


@pytest.mark.parametrize("mean", [0.0, 0.9, 1.0])
def test_a_hundred_thousand_pairs_stay_finite(mean: float) -> None:
    """The largest product is e^9531, and the smallest one e^-230,000."""
    rules = Rules(0.9, 0.002, 0.001)  # no emergency ends it
    evidence = folded(pairs(made_scores(3, mean, 100_000)), rules)
    assert evidence.pairs == 100_000
    for part, exponent in evidence.wealth:
        assert 0.5 <= part < 1
        assert abs(exponent) < 400_000
    assert math.isfinite(evidence.mean_wealth.logarithm)
    assert all(map(math.isfinite, evidence.levels))
    if mean == 1.0:
        assert evidence.mean_wealth.logarithm == pytest.approx(
            100_000 * math.log(1.1) - math.log(8), rel=1e-9
        )
        assert evidence.mean_wealth.reaches(1e300)
    assert Evidence.from_json(evidence.to_json(rules), rules) == evidence


def test_thresholds_at_their_limits_stay_finite() -> None:
    rules = Rules(0.999, 0.998, 0.001, false_alarm_pairs=1_000_000_000)
    for score in (0.0, 1.0, 0.5):
        evidence = folded(pairs([score] * 3_000), rules)
        assert all(level >= 0 and math.isfinite(level) for level in evidence.levels)
        assert math.isfinite(evidence.mean_wealth.logarithm)


@pytest.mark.parametrize("score", [math.nan, math.inf, -0.001, 1.001, True, "1", None])
def test_scores_that_are_none_are_refused(score: object) -> None:
    with pytest.raises(PairError, match="score: a number from 0 to 1"):
        Pair(sequence=1, score=score, is_drawn=True, at=0.0)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"sequence": 0}, "sequence"),
        ({"sequence": True}, "sequence"),
        ({"sequence": 1.0}, "sequence"),
        ({"is_drawn": 1}, "is_drawn"),
        ({"at": math.nan}, "at"),
        ({"at": math.inf}, "at"),
    ],
)
def test_other_fields_are_refused_by_name(fields: dict[str, object], named: str) -> None:
    whole: dict[str, object] = {"sequence": 1, "score": 1.0, "is_drawn": True, "at": 0.0}
    with pytest.raises(PairError, match=f"^{named}:"):
        Pair(**(whole | fields))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"coaching": 0.9}, "thresholds"),
        ({"emergency": 0.8}, "thresholds"),
        ({"emergency": 0.0}, "thresholds"),
        ({"graduation": math.nan}, "thresholds"),
        ({"graduation": 1.0}, "graduation"),
        ({"alpha": 0.0}, "alpha"),
        ({"alpha": math.nan}, "alpha"),
        ({"false_alarm_pairs": 99}, "false_alarm_pairs"),
        ({"attempt": 0}, "attempt"),
    ],
)
def test_rules_that_cannot_be_are_refused_by_name(fields: dict[str, float], named: str) -> None:
    whole = {"graduation": 0.9, "coaching": 0.8, "emergency": 0.6}
    with pytest.raises(RulesError, match=f"^{named}:"):
        Rules(**(whole | fields))  # type: ignore[arg-type]


def test_evidence_of_other_rules_or_damaged_evidence_has_to_be_rebuilt() -> None:
    evidence = folded(pairs([1.0, 0.0, 0.5]), RULES)
    written = evidence.to_json(RULES)
    with pytest.raises(UnusableEvidenceError, match="other rules"):
        Evidence.from_json(written, Rules(0.9, 0.8, 0.6, attempt=2))
    document = json.loads(written)
    damaged = [
        "",
        "[]",
        written.replace("0.9,", "NaN,", 1),
        written[:-1],
        *(json.dumps({**document, name: None}) for name in ("sequence", "wealth", "levels")),
        json.dumps({name: value for name, value in document.items() if name != "pairs"}),
        json.dumps({**document, "levels": document["levels"][1:]}),
        json.dumps({**document, "levels": [-1.0, *document["levels"][1:]]}),
        json.dumps({**document, "wealth": [[1.5, 1], *document["wealth"][1:]]}),
        json.dumps({**document, "wealth": [[0.5, 1.0], *document["wealth"][1:]]}),
        json.dumps({**document, "sequence": -1}),
        json.dumps({**document, "sequence": True}),
    ]
    for text in damaged:
        with pytest.raises(UnusableEvidenceError):
            Evidence.from_json(text, RULES)


def test_a_fold_is_the_same_on_each_machine() -> None:
    """Pinned: whatever computes otherwise would make other caches of the same pairs."""
    mixed = [0.65 + place / 20 for place in range(8)] * 40 + made_scores(1, 0.93, 300)
    evidence = folded(pairs(mixed), RULES)
    pinned = (evidence.wealth[0], evidence.wealth[-1], evidence.levels, evidence.alarms)
    assert repr(pinned) == PINNED


PINNED = (
    "((0.6807171307563112, 0), (0.5368024102159317, -77), (44.36012738746414, 25.478925452848806, "
    "11.653225415959408, 2.7468654465579396, 0.7674163020975483, 0.25187961269354214), 0)"
)
