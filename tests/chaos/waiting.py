"""Who waited behind whom: counted from the order of what ended, whatever the machine's speed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from tests.chaos.invariants import Finding

MOST_BEHIND = 0.25
"""Share of those who met what is held, of whom chance may have it end before them: what is held
lasts half a minute, so that this bears seven seconds for a completion of a healthy grader."""


@dataclass(frozen=True)
class Span:
    """From when until when something was open."""

    since: datetime
    until: datetime

    @property
    def seconds(self) -> float:
        """How long."""
        return (self.until - self.since).total_seconds()


def nobody_waits_behind(
    who: str, own: Sequence[Span], held: Mapping[str, Sequence[Span]]
) -> Finding:
    """Completions of healthy graders end before what somebody's sickness holds.

    One that was submitted while some is held waited behind it where more than half of that ended
    first. Where sickness holds nobody but its own, few do; where a queue or its workers
    are shared with it, all do.

    Args:
        who: the others, in words.
        own: completions of healthy graders, from submission to verdict.
        held: what each sick grader holds, from the first request that its sickness spoiled.
    """
    violations, told, all_met = [], [], 0
    for name, spans in held.items():
        met, behind = _counts(own, spans)
        told.append(f"{name} {behind} of {met}")
        all_met += met
        if behind > met * MOST_BEHIND:
            violations.append(f"{behind} of {met} waited behind {name}")
    if not all_met:
        violations.append("none was submitted while anything was held")
    return Finding(
        f"nobody waits behind {who}: {', '.join(told)}",
        all_met,
        violations,
        is_of_run=not all_met,
    )


def nobody_is_passed(who: str, own: Sequence[Span], others: Sequence[Span]) -> Finding:
    """What somebody else submits later ends earlier no more often than the other way round.

    That both take longer together is the machine's; that the others go first is not.

    Args:
        who: the others, in words.
        own: completions, from submission to verdict.
        others: those of the others.
    """
    passing = sum(_passes(other, one) for one in own for other in others)
    passed = sum(_passes(one, other) for one in own for other in others)
    violations = []
    # One for each is chance: what runs beside each other ends in any order.
    if passing > passed + len(own):
        violations.append(f"{who} went first {passing} times, and were passed {passed} times")
    is_compared = bool(own and others)
    if not is_compared:
        violations.append(f"nothing was compared: {len(own)} own, {len(others)} of others")
    return Finding(
        f"nobody is passed by {who}: {passing} times, {passed} the other way",
        len(own),
        violations,
        is_of_run=not is_compared,
    )


def _passes(one: Span, other: Span) -> bool:
    return other.since < one.since and one.until < other.until


def _counts(own: Sequence[Span], held: Sequence[Span]) -> tuple[int, int]:
    """Return how many were submitted while something was held, and how many waited behind it."""
    met = behind = 0
    for one in own:
        still = [other for other in held if other.since <= one.since < other.until]
        ended_first = sum(other.until <= one.until for other in still)
        met += bool(still)
        behind += 2 * ended_first > len(still)
    return met, behind
