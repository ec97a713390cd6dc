"""Who may answer a task's callers, from what is known of its versions.

It is derived each time, and never stored: a phase that is stored would be one more thing that can
be wrong.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum

from autotune_platform.apprentice.evidence import Evidence


class Phase(IntEnum):
    """How a task's inputs are answered."""

    REMOTE = 1
    """By the paid model alone, whose answers become examples."""
    BOTH = 2
    """Both models are asked, and the paid one answers."""
    LOCAL = 3
    """A version answers, and the paid model is asked now and then to check it."""


class Stage(StrEnum):
    """Where a version is in its life."""

    OUT = "out"
    """It is not hosted, was retired, or raised an emergency: nobody asks it."""
    SHADOW = "shadow"
    """It is asked beside another one, and answers nobody."""
    CANARY = "canary"
    """It has graduated, and answers a share of callers."""
    SERVES = "serves"
    """It has graduated and passed its canary since."""

    @property
    def has_graduated(self) -> bool:
        """Whether its own pairs say that it may answer callers."""
        return self in (Stage.CANARY, Stage.SERVES)


@dataclass(frozen=True)
class Version:
    """A version of the small model under one definition.

    Attributes:
        number: later versions have higher ones.
        evidence: of its own pairs.
        is_hosted: whether it can be asked.
        canary_at: the pair after which it passed its canary; None before.
        is_retired: whether a person or a failed check took it out.
    """

    number: int
    evidence: Evidence = field(default_factory=Evidence)
    is_hosted: bool = False
    canary_at: int | None = None
    is_retired: bool = False

    @property
    def stage(self) -> Stage:
        """Where it is in its life.

        An alarm takes graduation back (``Evidence``). A canary that was passed before the version
        graduated again counts no more: it has to pass another one.
        """
        if not self.is_hosted or self.is_retired or self.evidence.emergency_at is not None:
            return Stage.OUT
        graduated_at = self.evidence.graduated_at
        if graduated_at is None:
            return Stage.SHADOW
        if self.canary_at is None or self.canary_at < graduated_at:
            return Stage.CANARY
        return Stage.SERVES


@dataclass(frozen=True)
class Derived:
    """What follows for a task.

    Attributes:
        phase: how its inputs are answered.
        serving: number of the version that answers, which there is in phase 3 alone.
        candidate: number of a later version, in shadow or canary; in phase 2 without a serving one.
        canary: number of the latest such version in its canary, which answers a share. A later one
            in shadow is the candidate then, and is asked beside whoever answers the others.
    """

    phase: Phase
    serving: int | None = None
    candidate: int | None = None
    canary: int | None = None

    @property
    def graduated(self) -> int | None:
        """The version that may answer where the paid model cannot be paid; None where none may."""
        return self.canary if self.serving is None else self.serving

    @property
    def is_canary(self) -> bool:
        """Whether the candidate itself answers a share."""
        return self.canary is not None and self.canary == self.candidate


def derive(*, examples: int, needed: int, versions: Sequence[Version]) -> Derived:
    """Return the phase, and which versions are asked.

    The latest version that serves does, whatever newer ones do: a newer one is a candidate until it
    serves itself. After an emergency, a version before the one that raised it returns only if it
    serves by its own evidence; if none does, the paid model alone answers until a newer version is
    hosted.

    Args:
        examples: of the task's definition.
        needed: examples before any version is asked, ``phase1_to_phase2``.
        versions: all under this definition, in any order.

    Raises:
        ValueError: two versions have the same number.
    """
    by_number = {version.number: version for version in versions}
    if len(by_number) != len(versions):
        raise ValueError("versions: each number once")
    if examples < needed:
        return Derived(Phase.REMOTE)
    emergency = max(
        (number for number, one in by_number.items() if one.evidence.emergency_at is not None),
        default=None,
    )
    stages = {number: one.stage for number, one in by_number.items()}
    serving = max(
        (number for number, stage in stages.items() if stage is Stage.SERVES), default=None
    )
    later = {
        number: stage
        for number, stage in stages.items()
        if stage in (Stage.SHADOW, Stage.CANARY)
        and (serving is None or number > serving)
        and (emergency is None or number > emergency)
    }
    candidate = max(later, default=None)
    canary = max((n for n, stage in later.items() if stage is Stage.CANARY), default=None)
    if serving is not None:
        return Derived(Phase.LOCAL, serving, candidate, canary)
    if candidate is not None:
        return Derived(Phase.BOTH, None, candidate, canary)
    return Derived(Phase.REMOTE)


def kept(derived: Derived, versions: Iterable[Version]) -> frozenset[int]:
    """Return the versions that are asked, and the one that would serve if the serving one were out.

    No run asks any other: such a one raised an emergency, or a later one took its place.

    Args:
        derived: what ``derive`` says of ``versions``.
    """
    asked = {derived.serving, derived.candidate, derived.canary}
    if derived.serving is not None:
        serve = [one.number for one in versions if one.stage is Stage.SERVES]
        asked.add(max((number for number in serve if number < derived.serving), default=None))
    return frozenset(number for number in asked if number is not None)
