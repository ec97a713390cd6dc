"""Who is asked for a run, who answers its caller, and what may be learned from it.

``decide`` is a pure function of what is known so far. It is called when a run begins and again
whenever a model answered or failed, until it asks nobody any more. So a run that was cut off goes
on from what is stored of it.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from autotune_platform.apprentice.phases import Derived, Phase

WhenExhausted = Literal["local", "fail"]


class Local(StrEnum):
    """What came of asking a version."""

    ANSWERED = "answered"
    UNSURE = "unsure"
    """It answered, with less confidence than the gate's threshold."""
    UNPARSEABLE = "unparseable"
    """It answered with what cannot be read: it scores 0."""
    UNAVAILABLE = "unavailable"
    """There is no answer: a time-out, a host that sleeps, another version."""


class Remote(StrEnum):
    """What came of asking the paid model, after all tries."""

    ANSWERED = "answered"
    FAILED = "failed"


class Model(StrEnum):
    """Who answers."""

    LOCAL = "local"
    REMOTE = "remote"


class Refusal(StrEnum):
    """Why nobody answers."""

    BUDGET_EXHAUSTED = "budget_exhausted"
    LOCAL_UNAVAILABLE = "local_unavailable"
    REMOTE_UNAVAILABLE = "remote_unavailable"


@dataclass(frozen=True)
class Roles:
    """Which versions a run asks.

    Attributes:
        phase: by which rules it goes.
        local: number of the version whose answer may go to the caller.
        shadow: number of one that is asked beside it, and answers nobody.
    """

    phase: Phase
    local: int | None = None
    shadow: int | None = None


def roles(derived: Derived, *, in_canary: bool) -> Roles:
    """Return the roles of versions in a run.

    Args:
        derived: what is derived of the task.
        in_canary: whether the run was drawn for the canary, at its share.
    """
    shadow = None if derived.is_canary else derived.candidate
    if derived.canary is not None and in_canary:
        return Roles(Phase.LOCAL, derived.canary, shadow)
    if derived.phase is Phase.LOCAL:
        return Roles(Phase.LOCAL, derived.serving, shadow)
    return Roles(derived.phase, derived.candidate)


@dataclass(frozen=True)
class Facts:
    """What is known of a run.

    Attributes:
        phase: of its roles.
        is_drawn: whether chance drew it, before any model or gate was asked. It is stored with the
            run, and kept by its retries.
        may_answer: whether the version that is asked has graduated, and no alarm took that back: no
            other one answers a caller, whatever the budget says.
        has_shadow: whether a version is in shadow beside the one that serves, and the budget had
            room when the run began; it is stored with the run, too. It counts in phase 3 alone: in
            phase 2 the version that is asked is itself in shadow.
        has_room: whether the budget admits a call of the paid model now. What was reserved before
            and is under way, or over, needs none.
        when_exhausted: what is to happen where it does not.
        local: what came of the version; None before.
        shadow: what came of the one in shadow; None before.
        remote: what came of the paid model; None before.
    """

    phase: Phase
    is_drawn: bool
    has_room: bool
    may_answer: bool
    when_exhausted: WhenExhausted = "local"
    has_shadow: bool = False
    local: Local | None = None
    shadow: Local | None = None
    remote: Remote | None = None


@dataclass(frozen=True)
class Decision:
    """What to do next with a run.

    Attributes:
        ask_local: ask the version, if it is not being asked already.
        ask_shadow: the same of the one in shadow.
        ask_remote: the same of the paid model.
        answers: whose answer the caller gets; None while that is open, or if it is refused.
        refusal: why there will be no answer.
        pair: whether answers of version and paid model are compared. Chance alone chose it, before
            a gate was asked; behind one, evidence leaves out what the version is unsure of.
        shadow_pair: the same of the version in shadow.
        escalated: the version that would have answered was unsure, and the paid model did.
        unmonitored: the budget kept the paid model from being asked, and the version answered.
    """

    ask_local: bool = False
    ask_shadow: bool = False
    ask_remote: bool = False
    answers: Model | None = None
    refusal: Refusal | None = None
    pair: bool = False
    shadow_pair: bool = False
    escalated: bool = False
    unmonitored: bool = False


_READABLE = (Local.ANSWERED, Local.UNSURE)
_COMPARED = (Local.ANSWERED, Local.UNSURE, Local.UNPARSEABLE)


def decide(facts: Facts) -> Decision:
    """Return what to do with a run, from what is known of it.

    Phase 1 asks the paid model. Phase 2 asks both, and the paid one answers. Phase 3 asks the
    version, and beside it the paid one where the run is drawn or a version is in shadow; a version
    that fails or is unsure has the paid one asked in its place.

    Where the budget has no room for what is to be asked, ``local`` has a version answer that has
    graduated, marked ``unmonitored``. Where there is none, or with ``fail``, the run is refused. A
    version in shadow is asked only if the paid model is: it is never a reason to refuse. If the
    paid model itself fails, no version answers that would not have answered anyway.
    """
    if facts.phase is Phase.REMOTE:
        return _remote_alone(facts)
    if facts.phase is Phase.BOTH:
        return _both(facts)
    return _local(facts)


def _remote_alone(facts: Facts) -> Decision:
    if facts.remote is Remote.ANSWERED:
        return Decision(answers=Model.REMOTE)
    if facts.remote is Remote.FAILED:
        return Decision(refusal=Refusal.REMOTE_UNAVAILABLE)
    if not facts.has_room:
        return Decision(refusal=Refusal.BUDGET_EXHAUSTED)
    return Decision(ask_remote=True)


def _both(facts: Facts) -> Decision:
    if facts.remote is None and not facts.has_room:
        return _without_room(facts)
    is_answered = facts.remote is Remote.ANSWERED
    return Decision(
        ask_local=facts.local is None and facts.remote is not Remote.FAILED,
        ask_remote=facts.remote is None,
        answers=Model.REMOTE if is_answered else None,
        refusal=Refusal.REMOTE_UNAVAILABLE if facts.remote is Remote.FAILED else None,
        pair=is_answered and facts.is_drawn and facts.local in _COMPARED,
    )


def _local(facts: Facts) -> Decision:
    has_failed = facts.local in (Local.UNPARSEABLE, Local.UNAVAILABLE)
    is_unfit = has_failed or facts.local is Local.UNSURE or not facts.may_answer
    needs_remote = facts.is_drawn or is_unfit
    if needs_remote and facts.remote is None and not facts.has_room:
        return _without_room(facts)
    wants_remote = needs_remote or facts.has_shadow
    is_answered = facts.remote is Remote.ANSWERED
    answers, refusal = None, None
    if facts.local is Local.ANSWERED and facts.may_answer:
        answers = Model.LOCAL
    elif facts.local is not None:
        answers = Model.REMOTE if is_answered else None
        refusal = Refusal.REMOTE_UNAVAILABLE if facts.remote is Remote.FAILED else None
    return Decision(
        ask_local=facts.local is None,
        ask_shadow=facts.has_shadow
        and facts.shadow is None
        and (is_answered or (facts.remote is None and facts.has_room)),
        ask_remote=wants_remote and facts.remote is None and facts.has_room,
        answers=answers,
        refusal=refusal,
        pair=is_answered and (facts.is_drawn or facts.has_shadow) and facts.local in _COMPARED,
        shadow_pair=is_answered and facts.has_shadow and facts.shadow in _COMPARED,
        escalated=is_answered and facts.may_answer and facts.local is Local.UNSURE,
    )


def _without_room(facts: Facts) -> Decision:
    """The paid model should be asked, and cannot be paid."""
    if facts.when_exhausted == "fail" or not facts.may_answer:
        return Decision(refusal=Refusal.BUDGET_EXHAUSTED)
    if facts.local is None:
        return Decision(ask_local=True)
    if facts.local in _READABLE:
        return Decision(answers=Model.LOCAL, unmonitored=True)
    return Decision(refusal=Refusal.LOCAL_UNAVAILABLE)
