"""Phases follow from examples, versions and pairs alone: cases, and a machine over all of them."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from autotune_platform.apprentice.evidence import Evidence, Rules, folded
from autotune_platform.apprentice.pairs import Pair
from autotune_platform.apprentice.phases import Derived, Phase, Stage, Version, derive, kept
from autotune_platform.apprentice.routing import (
    Facts,
    Local,
    Model,
    Refusal,
    Remote,
    decide,
    roles,
)

NEEDED = 3
SHADOW = Evidence(sequence=9, pairs=9)
GRADUATED = Evidence(sequence=9, pairs=9, graduated_at=8)
EMERGENCY = replace(GRADUATED, emergency_at=9)


def version(number: int, evidence: Evidence = SHADOW, *, canary_at: int | None = None) -> Version:
    return Version(number=number, evidence=evidence, is_hosted=True, canary_at=canary_at)


def derived(*versions: Version, examples: int = NEEDED) -> Derived:
    return derive(examples=examples, needed=NEEDED, versions=versions)


def serving(number: int) -> Version:
    return version(number, GRADUATED, canary_at=8)


def test_too_few_examples_are_phase_1_whatever_there_is() -> None:
    assert derived(serving(1), examples=NEEDED - 1) == Derived(Phase.REMOTE)


def test_without_a_hosted_version_it_is_phase_1() -> None:
    assert derived() == Derived(Phase.REMOTE)
    assert derived(replace(serving(1), is_hosted=False)) == Derived(Phase.REMOTE)
    assert derived(replace(serving(1), is_retired=True)) == Derived(Phase.REMOTE)


def test_a_hosted_version_is_in_shadow_then_in_its_canary_then_serves() -> None:
    assert derived(version(1)) == Derived(Phase.BOTH, None, 1)
    assert derived(version(1, GRADUATED)) == Derived(Phase.BOTH, None, 1, canary=1)
    assert derived(version(1, GRADUATED, canary_at=8)) == Derived(Phase.LOCAL, 1)


def test_without_money_the_one_that_serves_answers_then_the_one_in_its_canary() -> None:
    assert derived(version(1)).graduated is None
    assert derived(version(1, GRADUATED)).graduated == 1
    assert derived(version(1, GRADUATED), version(2)).graduated == 1
    assert derived(serving(1), version(2, GRADUATED), version(3)).graduated == 1


def test_a_canary_from_before_an_alarm_counts_no_more() -> None:
    again = replace(GRADUATED, alarms=1, alarmed_at=5)
    assert version(1, again, canary_at=4).stage is Stage.CANARY
    assert version(1, again, canary_at=9).stage is Stage.SERVES


def test_the_incumbent_serves_until_a_later_version_does() -> None:
    assert derived(serving(1), version(2)) == Derived(Phase.LOCAL, 1, 2)
    assert derived(version(2, GRADUATED), serving(1)) == Derived(Phase.LOCAL, 1, 2, canary=2)
    assert derived(serving(1), serving(2)) == Derived(Phase.LOCAL, 2)


def test_a_version_keeps_its_canary_while_a_later_one_is_in_shadow() -> None:
    found = derived(serving(1), version(2, GRADUATED), version(3))
    assert (found, found.is_canary) == (Derived(Phase.LOCAL, 1, 3, canary=2), False)
    assert derived(version(2, GRADUATED), version(3)) == Derived(Phase.BOTH, None, 3, canary=2)
    assert derived(version(2, GRADUATED), serving(3)) == Derived(Phase.LOCAL, 3)
    assert derived(version(2, GRADUATED), version(3, EMERGENCY)) == Derived(Phase.REMOTE)


def test_an_older_version_that_does_not_serve_is_no_candidate() -> None:
    assert derived(version(1), serving(2)) == Derived(Phase.LOCAL, 2)


def test_after_an_emergency_the_one_before_returns_if_its_evidence_holds() -> None:
    assert derived(version(1, EMERGENCY, canary_at=8)) == Derived(Phase.REMOTE)
    assert derived(serving(1), version(2, EMERGENCY)) == Derived(Phase.LOCAL, 1)
    assert derived(version(1), version(2, EMERGENCY)) == Derived(Phase.REMOTE)
    assert derived(version(1), version(2, EMERGENCY), version(3)) == Derived(Phase.BOTH, None, 3)


@pytest.mark.parametrize(
    ("versions", "expected"),
    [
        ([version(1), version(2)], {2}),
        ([version(1, GRADUATED), version(2)], {1, 2}),
        ([serving(1), version(2, GRADUATED), version(3)], {1, 2, 3}),
        ([serving(1), serving(2), serving(3), version(4)], {2, 3, 4}),
        ([serving(1), version(2, GRADUATED), serving(3)], {1, 3}),
        ([version(1), version(2, EMERGENCY)], set()),
        ([serving(1), version(2, EMERGENCY)], {1}),
        ([replace(serving(1), is_retired=True), serving(2)], {2}),
    ],
)
def test_who_is_asked_or_would_serve_next_is_kept(
    versions: list[Version], expected: set[int]
) -> None:
    assert kept(derived(*versions), versions) == expected
    assert kept(derived(*versions, examples=NEEDED - 1), versions) == set()


def test_a_number_that_is_there_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="each number once"):
        derived(version(1), version(1))


RULES = Rules(graduation=0.5, coaching=0.3, emergency=0.1, false_alarm_pairs=100)
"""Low ones, so that a dozen or two of pairs decide."""


@dataclass
class Life:
    """What happened to a version, as events and pairs; its evidence is a cache."""

    number: int
    pairs: list[Pair] = field(default_factory=list)
    cached: str = field(default_factory=lambda: Evidence().to_json(rules_of(1)))
    is_hosted: bool = True
    is_retired: bool = False
    canary_at: int | None = None

    @property
    def rules(self) -> Rules:
        return rules_of(self.number)

    def version(self, evidence: Evidence) -> Version:
        return Version(
            number=self.number,
            evidence=evidence,
            is_hosted=self.is_hosted,
            canary_at=self.canary_at,
            is_retired=self.is_retired,
        )


def rules_of(number: int) -> Rules:
    return replace(RULES, attempt=number)


class Phases(RuleBasedStateMachine):
    """Anything happens, in any order; evidence is cached as JSON and folded step by step."""

    def __init__(self) -> None:
        super().__init__()
        self.examples = 0
        self.lives: list[Life] = []

    def evidence(self, life: Life) -> Evidence:
        return Evidence.from_json(life.cached, life.rules)

    @property
    def now(self) -> Derived:
        versions = [life.version(self.evidence(life)) for life in self.lives]
        return derive(examples=self.examples, needed=NEEDED, versions=versions)

    def life(self, number: int | None) -> Life | None:
        return next((life for life in self.lives if life.number == number), None)

    @initialize(examples=st.sampled_from([0, NEEDED, NEEDED]), versions=st.integers(0, 2))
    def something_is_there(self, examples: int, versions: int) -> None:
        self.examples = examples
        for _ in range(versions):
            self.a_version_is_hosted()

    @rule(count=st.integers(1, 3))
    def examples_come(self, count: int) -> None:
        self.examples += count

    @precondition(lambda self: len(self.lives) < 6)
    @rule()
    def a_version_is_hosted(self) -> None:
        number = len(self.lives) + 1
        self.lives.append(Life(number, cached=Evidence().to_json(rules_of(number))))

    @precondition(lambda self: self.lives)
    @rule(
        data=st.data(),
        score=st.sampled_from([1.0, 1.0, 0.0, 0.9, 0.2]),
        count=st.sampled_from([20, 12, 40, 1]),
        is_drawn=st.sampled_from([True, True, True, False]),
        in_canary=st.booleans(),
        twice=st.booleans(),
    )
    def pairs_come(
        self,
        data: st.DataObject,
        score: float,
        count: int,
        is_drawn: bool,
        in_canary: bool,
        twice: bool,
    ) -> None:
        life = data.draw(st.sampled_from(self.lives))
        for _ in range(count):
            place = len(life.pairs)
            pair = Pair(place + 1, score, is_drawn, float(place), in_canary)
            before = self.evidence(life)
            after = self.fold_one(life, pair)
            if twice:
                assert after.fold(pair, life.rules) == after
            if not is_drawn:
                assert replace(after, sequence=before.sequence) == before

    def fold_one(self, life: Life, pair: Pair) -> Evidence:
        life.pairs.append(pair)
        after = self.evidence(life).fold(pair, life.rules)
        life.cached = after.to_json(life.rules)
        return after

    @precondition(lambda self: self.now.is_canary)
    @rule()
    def the_canary_passes(self) -> None:
        life = self.life(self.now.candidate)
        assert life is not None
        life.canary_at = len(life.pairs)

    @precondition(lambda self: self.lives)
    @rule(data=st.data(), is_hosted=st.sampled_from([True, True, False]))
    def a_host_goes_or_comes(self, data: st.DataObject, is_hosted: bool) -> None:
        data.draw(st.sampled_from(self.lives)).is_hosted = is_hosted

    @precondition(lambda self: len(self.lives) > 1)
    @rule(chosen=st.integers(0, 9))
    def a_version_is_retired(self, chosen: int) -> None:
        if chosen < len(self.lives):
            self.lives[chosen].is_retired = True

    @precondition(lambda self: self.now.candidate)
    @rule()
    def the_candidate_comes_to_serve(self) -> None:
        life = self.life(self.now.candidate)
        assert life is not None
        for _ in range(60):
            if self.evidence(life).graduated_at:
                life.canary_at = len(life.pairs)
                return
            self.fold_one(life, Pair(len(life.pairs) + 1, 1.0, is_drawn=True, at=0.0))

    @invariant()
    def evidence_rebuilt_is_the_cache_and_the_phase_follows_from_pairs(self) -> None:
        rebuilt = []
        for life in self.lives:
            evidence = folded(life.pairs, life.rules)
            assert evidence.to_json(life.rules) == life.cached
            rebuilt.append(life.version(evidence))
        again = derive(examples=self.examples, needed=NEEDED, versions=rebuilt[::-1])
        assert again == self.now

    @invariant()
    def phase_1_is_as_it_is_written(self) -> None:
        now = self.now
        if self.examples < NEEDED or not any(life.is_hosted for life in self.lives):
            assert now == Derived(Phase.REMOTE)
        assert (now.phase is Phase.REMOTE) == (now.serving is None and now.candidate is None)

    @invariant()
    def what_serves_has_earned_it(self) -> None:
        now = self.now
        assert (now.phase is Phase.LOCAL) == (now.serving is not None)
        life = self.life(now.serving)
        if life is not None:
            assert life.is_hosted
            assert not life.is_retired
            self.has_earned(life, canary=True)
            assert now.candidate is None or now.candidate > life.number
        candidate = self.life(now.candidate)
        if candidate is not None:
            assert candidate.is_hosted
            assert self.evidence(candidate).emergency_at is None
        canary = self.life(now.canary)
        if canary is not None:
            self.has_earned(canary, canary=False)
            assert now.candidate is not None
            assert now.candidate >= canary.number

    def has_earned(self, life: Life, *, canary: bool) -> None:
        """By the pairs alone: since the last alarm there were enough that agree, and none after."""
        evidence = folded(life.pairs, life.rules)
        assert evidence.emergency_at is None
        assert evidence.graduated_at is not None
        since = life.pairs[evidence.alarmed_at or 0 : evidence.graduated_at]
        drawn = [pair.score for pair in since if pair.is_drawn]
        assert sum(drawn) / len(drawn) > RULES.graduation
        assert len(drawn) >= 7, "the largest bet wins 0.9 a pair: 1.9^7 / 8 is above 8"
        if canary:
            assert life.canary_at is not None
            assert life.canary_at >= evidence.graduated_at

    @invariant()
    def no_version_that_has_not_graduated_answers_callers(self) -> None:
        now = self.now
        for in_canary, has_room in itertools.product((True, False), repeat=2):
            given = roles(now, in_canary=in_canary)
            asked = given.local
            if given.phase is Phase.BOTH and not has_room and now.graduated is not None:
                asked = now.graduated
            life = self.life(asked)
            stage = None if life is None else life.version(self.evidence(life)).stage
            facts = Facts(
                given.phase,
                is_drawn=False,
                has_room=has_room,
                may_answer=stage is not None and stage.has_graduated,
                local=None if asked is None else Local.ANSWERED,
                remote=Remote.ANSWERED if has_room else None,
            )
            found = decide(facts)
            if found.answers is Model.LOCAL:
                assert life is not None
                self.has_earned(life, canary=asked == now.serving)
            if now.graduated is None and not has_room:
                assert found.refusal is Refusal.BUDGET_EXHAUSTED

    @invariant()
    def who_answers_without_money_has_earned_it(self) -> None:
        life = self.life(self.now.graduated)
        if life is not None:
            self.has_earned(life, canary=life.number == self.now.serving)

    @invariant()
    def an_emergency_is_for_good(self) -> None:
        fired = [life.number for life in self.lives if self.evidence(life).emergency_at]
        now = self.now
        assert now.serving not in fired
        assert now.candidate not in fired
        assert now.canary not in fired
        if fired and now.phase is Phase.BOTH:
            assert now.candidate is not None
            assert now.candidate > max(fired)


TestPhases = Phases.TestCase
TestPhases.settings = settings(max_examples=120, stateful_step_count=25, deadline=None)


def stages(scores: Sequence[float]) -> list[Stage]:
    """The stages of a version that passes its canary as soon as it may."""
    found, life, evidence = [], Life(1), Evidence()
    for place, score in enumerate(scores, start=1):
        evidence = evidence.fold(Pair(place, score, is_drawn=True, at=0.0), RULES)
        stage = life.version(evidence).stage
        if stage is Stage.CANARY:
            life.canary_at = place
        if not found or found[-1] is not stage:
            found.append(stage)
    return found


def test_the_machine_reaches_all_stages() -> None:
    """What it looks at would be nothing, if few pairs decided nothing."""
    whole = [1.0] * 12 + [0.0] * 15 + [1.0] * 40 + [0.0] * 60
    assert stages(whole) == [
        Stage.SHADOW,
        Stage.CANARY,
        Stage.SERVES,
        Stage.SHADOW,
        Stage.CANARY,
        Stage.SERVES,
        Stage.SHADOW,
        Stage.OUT,
    ]
