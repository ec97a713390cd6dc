"""Who is asked, who answers and what is evidence, in every combination of what can be known."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest

from autotune_platform.apprentice.phases import Derived, Phase
from autotune_platform.apprentice.routing import (
    Decision,
    Facts,
    Local,
    Model,
    Refusal,
    Remote,
    Roles,
    WhenExhausted,
    decide,
    roles,
)

SAID = (Local.ANSWERED, Local.UNSURE)
COMPARED = (*SAID, Local.UNPARSEABLE)
ONCE = (True, False)


@dataclass(frozen=True)
class World:
    """A run with what each model would do if it was asked."""

    phase: Phase
    is_drawn: bool
    has_shadow: bool
    has_room: bool
    may_answer: bool
    when_exhausted: WhenExhausted
    local: Local
    shadow: Local
    remote: Remote


@dataclass(frozen=True)
class Ended:
    """What became of it."""

    asked: frozenset[str]
    answers: Model | None
    refusal: Refusal | None
    pair: bool = False
    shadow_pair: bool = False
    escalated: bool = False
    unmonitored: bool = False


def worlds() -> Iterator[World]:
    exhausted: tuple[WhenExhausted, ...] = ("local", "fail")
    for each in itertools.product(Phase, ONCE, ONCE, ONCE, ONCE, exhausted, Local, Local, Remote):
        yield World(*each)


def played(world: World) -> Ended:
    """Ask whom ``decide`` says, until it asks nobody; the models answer one after the other."""
    facts = Facts(
        phase=world.phase,
        is_drawn=world.is_drawn,
        has_room=world.has_room,
        may_answer=world.may_answer,
        when_exhausted=world.when_exhausted,
        has_shadow=world.has_shadow,
    )
    asked: set[str] = set()
    for _ in range(4):
        decision = decide(facts)
        for name in ("local", "shadow", "remote"):
            if getattr(decision, f"ask_{name}"):
                assert name not in asked, "nobody is asked twice"
                asked.add(name)
                facts = replace(facts, **{name: getattr(world, name)})
                break
        else:
            return Ended(
                frozenset(asked),
                decision.answers,
                decision.refusal,
                pair=decision.pair,
                shadow_pair=decision.shadow_pair,
                escalated=decision.escalated,
                unmonitored=decision.unmonitored,
            )
    raise AssertionError(f"never ends: {facts}")


NOBODY = frozenset[str]()
LOCAL, REMOTE = frozenset({"local"}), frozenset({"remote"})
BOTH = LOCAL | REMOTE


def expected(world: World) -> Ended:
    """Section 2 of the design, case by case."""
    if world.phase is Phase.REMOTE:
        return in_phase_1(world)
    is_fit = world.may_answer and world.local is Local.ANSWERED
    needs_remote = world.phase is Phase.BOTH or world.is_drawn or not is_fit
    if needs_remote and not world.has_room:
        return exhausted(world)
    return in_phase_2(world) if world.phase is Phase.BOTH else in_phase_3(world, needs_remote)


def in_phase_1(world: World) -> Ended:
    if not world.has_room:
        return Ended(NOBODY, None, Refusal.BUDGET_EXHAUSTED)
    if world.remote is Remote.ANSWERED:
        return Ended(REMOTE, Model.REMOTE, None)
    return Ended(REMOTE, None, Refusal.REMOTE_UNAVAILABLE)


def exhausted(world: World) -> Ended:
    """In phase 3 it shows only after the version was asked that nothing else will do."""
    if world.when_exhausted == "fail" or not world.may_answer:
        is_known_before = world.phase is Phase.BOTH or world.is_drawn or not world.may_answer
        return Ended(NOBODY if is_known_before else LOCAL, None, Refusal.BUDGET_EXHAUSTED)
    if world.local in SAID:
        return Ended(LOCAL, Model.LOCAL, None, unmonitored=True)
    return Ended(LOCAL, None, Refusal.LOCAL_UNAVAILABLE)


def in_phase_2(world: World) -> Ended:
    if world.remote is Remote.FAILED:
        return Ended(BOTH, None, Refusal.REMOTE_UNAVAILABLE)
    return Ended(
        BOTH,
        Model.REMOTE,
        None,
        pair=world.is_drawn and world.local in COMPARED,
    )


def in_phase_3(world: World, needs_remote: bool) -> Ended:
    if not world.has_room or not (needs_remote or world.has_shadow):
        return Ended(LOCAL, Model.LOCAL, None)
    asked = BOTH | ({"shadow"} if world.has_shadow else set())
    is_local = world.may_answer and world.local is Local.ANSWERED
    if world.remote is Remote.FAILED:
        refusal = None if is_local else Refusal.REMOTE_UNAVAILABLE
        return Ended(asked, Model.LOCAL if is_local else None, refusal)
    by_chance = world.is_drawn or world.has_shadow
    return Ended(
        asked,
        Model.LOCAL if is_local else Model.REMOTE,
        None,
        pair=by_chance and world.local in COMPARED,
        shadow_pair=world.has_shadow and world.shadow in COMPARED,
        escalated=world.may_answer and world.local is Local.UNSURE,
    )


def test_each_combination_ends_as_the_design_says() -> None:
    count = 0
    for world in worlds():
        assert played(world) == expected(world), world
        count += 1
    assert count == 3 * 2 * 2 * 2 * 2 * 2 * 4 * 4 * 2


def test_all_that_can_be_known_leads_to_a_decision_that_keeps_the_invariants() -> None:
    exhausted: tuple[WhenExhausted, ...] = ("local", "fail")
    every = itertools.product(
        Phase, ONCE, ONCE, ONCE, exhausted, ONCE, (None, *Local), (None, *Local), (None, *Remote)
    )
    for phase, drawn, room, may, when, has_shadow, local, shadow, remote in every:
        facts = Facts(
            phase=phase,
            is_drawn=drawn,
            has_room=room,
            may_answer=may,
            when_exhausted=when,
            has_shadow=has_shadow,
            local=local,
            shadow=shadow,
            remote=remote,
        )
        found = decide(facts)
        asks = found.ask_local or found.ask_shadow or found.ask_remote
        assert not (found.answers and found.refusal), facts
        assert asks or found.answers or found.refusal, facts
        assert not (asks and found.refusal), facts
        assert not (found.ask_remote and (not room or remote)), facts
        assert not (found.ask_local and (local or phase is Phase.REMOTE)), facts
        assert not (found.ask_shadow and (shadow or not has_shadow or phase != 3)), facts
        assert (found.answers is not Model.REMOTE) or remote is Remote.ANSWERED, facts
        assert (found.answers is not Model.LOCAL) or local in SAID, facts
        if found.pair:  # no pair from failures or by content
            assert remote is Remote.ANSWERED, facts
            assert local in COMPARED, facts
            assert drawn or (has_shadow and phase is Phase.LOCAL), facts
        if found.escalated:
            assert found.answers is Model.REMOTE, facts
            assert (phase, local) == (Phase.LOCAL, Local.UNSURE), facts
        if found.unmonitored:
            assert found.answers is Model.LOCAL, facts
            assert not room, facts
            assert when == "local", facts
        if found.answers is Model.LOCAL:
            assert may, "no version answers that has not graduated, with money or without"
        if found.answers is Model.LOCAL and phase is Phase.BOTH:
            assert found.unmonitored, facts
        if found.escalated:
            assert may, facts
        if found.answers is Model.LOCAL and local is Local.UNSURE:
            assert found.unmonitored, facts


def test_a_local_answer_does_not_wait_for_the_check() -> None:
    facts = Facts(Phase.LOCAL, is_drawn=True, has_room=True, may_answer=True, local=Local.ANSWERED)
    assert decide(facts) == Decision(ask_remote=True, answers=Model.LOCAL)


def test_both_are_asked_at_once_where_that_is_known_before() -> None:
    for phase in (Phase.BOTH, Phase.LOCAL):
        found = decide(Facts(phase, is_drawn=True, has_room=True, may_answer=True))
        assert (found.ask_local, found.ask_remote) == (True, True)
    found = decide(Facts(Phase.LOCAL, is_drawn=False, has_room=True, may_answer=True))
    assert (found.ask_local, found.ask_remote) == (True, False)


@pytest.mark.parametrize("in_canary", ONCE)
def test_roles_follow_from_the_phase(in_canary: bool) -> None:
    for derived, expected_roles in (
        (Derived(Phase.REMOTE), Roles(Phase.REMOTE)),
        (Derived(Phase.BOTH, None, 1), Roles(Phase.BOTH, 1)),
        (Derived(Phase.LOCAL, 1), Roles(Phase.LOCAL, 1)),
        (Derived(Phase.LOCAL, 1, 2), Roles(Phase.LOCAL, 1, 2)),
    ):
        assert roles(derived, in_canary=in_canary) == expected_roles


def test_a_canary_answers_its_share_and_no_other() -> None:
    first = Derived(Phase.BOTH, None, 1, canary=1)
    assert roles(first, in_canary=True) == Roles(Phase.LOCAL, 1)
    assert roles(first, in_canary=False) == Roles(Phase.BOTH, 1)
    later = Derived(Phase.LOCAL, 1, 2, canary=2)
    assert roles(later, in_canary=True) == Roles(Phase.LOCAL, 2)
    assert roles(later, in_canary=False) == Roles(Phase.LOCAL, 1)


def test_a_later_version_in_shadow_is_asked_beside_a_canary() -> None:
    first = Derived(Phase.BOTH, None, 2, canary=1)
    assert roles(first, in_canary=True) == Roles(Phase.LOCAL, 1, 2)
    assert roles(first, in_canary=False) == Roles(Phase.BOTH, 2)
    later = Derived(Phase.LOCAL, 1, 3, canary=2)
    assert roles(later, in_canary=True) == Roles(Phase.LOCAL, 2, 3)
    assert roles(later, in_canary=False) == Roles(Phase.LOCAL, 1, 3)
