"""The seam between runs and those who judge: one protocol for every kind of grader.

A judge yields judgements as they come, because each is stored before the next is waited for: what
was paid for survives a crash. It ends with what is left: untried, to be tried again, or waiting.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from autotune.protocol.completions import ReasonCode
from autotune.protocol.graders import GraderKind
from autotune_platform.budgets.permit import Permit
from autotune_platform.budgets.permits import Wait
from autotune_platform.completions.models import Completion
from autotune_platform.gateway.models import Grader, UsableGrader
from autotune_platform.verdicts.judgements import Judgement
from autotune_platform.verdicts.models import GradedBy


class Asker(GradedBy):
    """A run that asks one grader, for itself or as a panel's member.

    Attributes:
        organization_id: whose completions it asks about.
        run_id: the execution's name.
    """

    organization_id: str
    run_id: str


@dataclass(frozen=True, kw_only=True)
class Round:
    """One round of a run, as its judge sees it.

    Attributes:
        attempt: passes over the completions that it takes, this one included.
        halvings: how often packs that failed are to be halved, until a text is alone.
        looked_at: when the pass before this one ended, in Unix seconds; 0 for the first.
        is_resumed: whether completions of the run waited for an answer until now.
        is_expected: whether the turn has come that the run reserved.
        permit: to call the grader; None where its kind needs none, or none was requested yet.
        seconds_left: how long the round may still last.
    """

    asker: Asker
    usable: UsableGrader
    attempt: int
    halvings: int = 0
    looked_at: int = 0
    is_resumed: bool
    is_expected: bool = False
    permit: Permit | None = None
    seconds_left: Callable[[], float]

    @property
    def grader(self) -> Grader:
        """The grader that is asked, as it is registered now."""
        return self.usable.grader


def _nothing() -> None:
    """Do nothing."""


@dataclass(frozen=True, kw_only=True)
class Judged:
    """Judgements that came together, by completion.

    Attributes:
        asker: who had asked; an answer that was recorded may be to a run before this one.
        attempts: passes over the completions that it took.
        recorded_at: when the answer came, where it was recorded before anybody acted on it: it may
            be acted on by several, and its completions may have verdicts by now.
        is_late: only to be counted: another answer to the same question came first.
        stored: called once verdicts are stored, to let go of what was kept until then.
    """

    asker: Asker
    judgements: Mapping[str, Judgement]
    attempts: int
    share_reasoning: bool = False
    recorded_at: datetime | None = None
    is_late: bool = False
    stored: Callable[[], None] = _nothing


@dataclass(frozen=True)
class Awaited:
    """An answer that is to come later.

    Attributes:
        look_at: when to look whether it still may come.
        attempts: passes over the completion that it took.
    """

    look_at: datetime
    attempts: int


@dataclass(frozen=True)
class Failure:
    """Why a completion was not judged although its grader was asked; it may be asked again.

    Attributes:
        retry_after_seconds: how long the grader asked us to wait.
        may_be_text: whether its text may be the cause; it never is of a rate limit.
    """

    reason_code: ReasonCode
    retry_after_seconds: int = 0
    may_be_text: bool = True


@dataclass(frozen=True, kw_only=True)
class Resumed:
    """What a run finds of what was asked before.

    Attributes:
        unasked: completions about which nobody is being asked.
        waiting: those whose answer is still to come.
    """

    unasked: Sequence[str]
    waiting: Mapping[str, Awaited] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Remainder:
    """What a round leaves; whatever is in none of these was judged.

    Attributes:
        untried: completions for which there was no time, or no permit.
        failed: those that may be asked about again.
        waiting: those whose answer is to come later.
        wait_seconds: until there may be a permit.
        asked: whether the grader was asked about anything.
        is_down: whether the circuit forbids calls: a wait for that has no known end.
        hold_seconds: a limit is full, for which a turn is to be reserved: for so long rounds hold a
            slot of late. None where there is nothing to reserve.
        others_pass: whether the grader answered other calls since the pass before. A round that
            asked nobody does not know it.
        down_with: what calls, maybe of others, found the grader down with, where it is.
        has_answer: whether the grader answered a call of this round.
        is_back: whether this round's probe closed the circuit.
    """

    untried: Sequence[str] = ()
    failed: Mapping[str, Failure] = field(default_factory=dict)
    waiting: Mapping[str, Awaited] = field(default_factory=dict)
    wait_seconds: float = 0
    asked: bool = True
    is_down: bool = False
    hold_seconds: float | None = None
    others_pass: bool = False
    down_with: ReasonCode | None = None
    has_answer: bool = False
    is_back: bool = False


def refused(wait: Wait, untried: Sequence[str]) -> Remainder:
    """Return what a round leaves that got no permit: everything, and nobody was asked."""
    return Remainder(
        untried=untried,
        wait_seconds=wait.seconds,
        asked=False,
        is_down=wait.is_down,
        hold_seconds=wait.hold_seconds,
        down_with=wait.reason_code,
    )


class Judge(Protocol):
    """One kind of grader."""

    def request_permit(self, round_: Round, completions: int) -> Permit | Wait | None:
        """Return a permit to ask about so many completions; None where none is needed.

        It is requested before anything is read of them: who waits behind a limit reads nothing.
        """

    def reserve_turn(self, round_: Round, remainder: Remainder, *, until: float) -> float | None:
        """Reserve a turn to ask about what a full limit left untried; return when it begins.

        Args:
            until: the latest that it may begin, in Unix seconds. None is returned where others wait
                for longer.
        """

    def resume(self, round_: Round, undecided: Sequence[str]) -> Generator[Judged, None, Resumed]:
        """Yield what became of earlier questions; return what is left of ``undecided``."""

    def judge(
        self, round_: Round, completions: Sequence[Completion]
    ) -> Generator[Judged, None, Remainder]:
        """Ask about completions that nobody is asked about; yield each answer as it comes."""


class NeedsNoPermit:
    """A kind of grader that is not called."""

    def request_permit(self, round_: Round, completions: int) -> None:
        """Return None: no permit is needed."""

    def reserve_turn(self, round_: Round, remainder: Remainder, *, until: float) -> None:
        """Return None: nothing is waited for."""


@dataclass(frozen=True)
class Judges:
    """The judges of one process, by kind of grader."""

    by_kind: Mapping[GraderKind, Judge]

    def of(self, grader: Grader) -> Judge:
        """Return the judge that asks a grader."""
        return self.by_kind[grader.kind]
