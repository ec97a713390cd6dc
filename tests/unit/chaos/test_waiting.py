"""Who waits behind the sick is found by what ends first, on a fast machine and a slow one."""

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from tests.chaos.waiting import Span, nobody_is_passed, nobody_waits_behind

START = datetime(2026, 11, 21, 12, tzinfo=UTC)
EVERY_SECONDS = 0.4
OWN, SICK = 240, 60
HELD_SECONDS = 30


def span(since: float, until: float) -> Span:
    return Span(START + timedelta(seconds=since), START + timedelta(seconds=until))


def sick(*, workers: int = SICK) -> list[Span]:
    """Return what a grader holds whose every call lasts half a minute, over some workers."""
    free = [0.0] * workers
    spans = []
    for number in range(SICK):
        place = free.index(min(free))
        begun = max(number * EVERY_SECONDS * OWN / SICK, free[place])
        free[place] = begun + HELD_SECONDS
        spans.append(span(begun, free[place]))
    return spans


def alone(*, takes: float) -> list[Span]:
    """Return healthy completions that nobody holds up, each of which takes its time."""
    draw = random.Random(7)
    return [span(at, at + takes * draw.uniform(0.5, 1.5)) for at in _submitted()]


def shared(held: Sequence[Span], *, takes: float) -> list[Span]:
    """Return healthy completions that are asked about once nothing is held any more: the fault."""
    spans = []
    for at in _submitted():
        since = START + timedelta(seconds=at)
        open_then = [one.until for one in held if one.since <= since < one.until]
        spans.append(Span(since, max([since, *open_then]) + timedelta(seconds=takes)))
    return spans


def _submitted() -> list[float]:
    return [number * EVERY_SECONDS for number in range(OWN)]


@pytest.mark.parametrize("takes", [0.1, 1, 5])
def test_who_is_alone_waits_for_nobody_however_slow_the_machine_is(takes: float) -> None:
    found = nobody_waits_behind("sick", alone(takes=takes), {"time-outs": sick()})
    assert not found.violations
    assert found.checked > OWN * 0.9


@pytest.mark.parametrize("takes", [0.1, 1])
def test_who_waits_until_the_sick_are_done_is_found(takes: float) -> None:
    held = sick()
    found = nobody_waits_behind("sick", shared(held, takes=takes), {"time-outs": held})
    assert found.violations == [f"{found.checked} of {found.checked} waited behind time-outs"]


def test_one_worker_for_all_is_found() -> None:
    """Whoever comes waits for each that came before, which is how one queue would be served."""
    free, spans = 0.0, []
    calls = [(at, 0.1) for at in _submitted()]
    calls += [(number * 10.0, HELD_SECONDS) for number in range(9)]
    held = []
    for at, takes in sorted(calls):
        begun = max(at, free)
        free = begun + takes
        (held if takes == HELD_SECONDS else spans).append((at, begun, free))
    found = nobody_waits_behind(
        "sick",
        [span(at, until) for at, _, until in spans],
        {"time-outs": [span(begun, until) for _, begun, until in held]},
    )
    assert found.violations


def test_each_sick_grader_is_counted_by_itself() -> None:
    """One that holds others up is not lost among many that hold up nobody."""
    culprit = sick(workers=1)
    held = {"slow drip": sick(), "time-outs": culprit, "down for good": sick()}
    found = nobody_waits_behind("sick", shared(culprit, takes=0.1), held)
    assert any(said.endswith("behind time-outs") for said in found.violations)
    assert not any(said.endswith("behind down") for said in found.violations)


def test_what_ended_before_or_began_after_holds_nobody_up() -> None:
    own = [span(10, 11)]
    for elsewhere in (span(0, 10), span(10.5, 10.7), span(5, 12)):
        found = nobody_waits_behind("sick", own, {"n": [elsewhere], "m": [span(0, 60)]})
        assert not found.violations
    assert nobody_waits_behind("sick", own, {"n": [span(5, 10.9)]}).violations


def test_where_nothing_is_held_nothing_is_proven() -> None:
    nothing_held = nobody_waits_behind("sick", [span(0, 1)], {"n": []})
    nobody_there = nobody_waits_behind("sick", [], {"n": [span(0, 60)]})
    for found in nothing_held, nobody_there:
        assert found.violations
        assert found.is_of_run


def served(*, attackers_first: bool, takes: float) -> tuple[list[Span], list[Span]]:
    """Return what one worker does that has too much to do, of an organisation and its attacker."""
    waiting = [(at, False) for at in _submitted()[:60]]
    waiting += [(at + 0.1, True) for at in _submitted()[:60] for _ in range(3)]
    own: list[Span] = []
    attacks: list[Span] = []
    now = 0.0
    while waiting:
        now = max(now, min(at for at, _ in waiting))
        due = [one for one in waiting if one[0] <= now]
        at, is_attack = min(due, key=lambda one: (attackers_first and not one[1], one[0]))
        waiting.remove((at, is_attack))
        now += takes
        (attacks if is_attack else own).append(span(at, now))
    return own, attacks


@pytest.mark.parametrize("takes", [0.01, 0.3, 3])
def test_who_is_served_in_turn_is_not_passed_however_slow_the_machine_is(takes: float) -> None:
    own, attacks = served(attackers_first=False, takes=takes)
    assert not nobody_is_passed("an attacker", own, attacks).violations


@pytest.mark.parametrize("takes", [0.3, 3])
def test_who_is_served_after_an_attacker_is_found(takes: float) -> None:
    own, attacks = served(attackers_first=True, takes=takes)
    found = nobody_is_passed("an attacker", own, attacks)
    assert found.violations
    assert not found.is_of_run


def test_where_nothing_is_compared_nothing_is_proven() -> None:
    for own, attacks in ([], [span(0, 1)]), ([span(0, 1)], []):
        found = nobody_is_passed("an attacker", own, attacks)
        assert found.violations
        assert found.is_of_run
