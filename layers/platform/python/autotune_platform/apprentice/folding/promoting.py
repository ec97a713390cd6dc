"""What follows for a version from its canary: the next share, serving, or going back.

It is written in the transaction of the pairs that it follows from. Each write requires the version
to be as this process knows it: a version that a person promoted or retired meanwhile has the
transaction refused, and read again.
"""

from dataclasses import dataclass, field
from datetime import datetime

from autotune_platform.apprentice.canary import Shares
from autotune_platform.apprentice.configuration.models import ApprenticeTask
from autotune_platform.apprentice.evidence import Evidence
from autotune_platform.apprentice.folding.advancing import Moved
from autotune_platform.apprentice.folding.events import Happened, canary_moved
from autotune_platform.apprentice.folding.models import StoredEvidence
from autotune_platform.apprentice.folding.versions import with_evidence
from autotune_platform.apprentice.phases import Stage
from autotune_platform.apprentice.versions.models import ModelVersion

BY_ITSELF = "autotune"
"""Who promoted a version that passed its canary."""


@dataclass(frozen=True)
class Follows:
    """What follows for a version.

    Attributes:
        version: as it is from now on.
        is_required: whether that has to be how it is stored, unless it is promoted.
        happened: to be published, and kept.
    """

    version: ModelVersion
    is_promoted: bool = False
    happened: list[Happened] = field(default_factory=list)

    @property
    def is_required(self) -> bool:
        """Whether the version has to be stored as it is known."""
        return self.is_promoted or bool(self.happened)


def what_follows(
    task: ApprenticeTask,
    version: ModelVersion,
    evidence: Evidence,
    moved: list[Moved],
    *,
    shares: Shares,
    stored: StoredEvidence,
    at: datetime,
) -> Follows:
    """Return what follows from new pairs of a version.

    Args:
        version: as it is known.
        evidence: after the pairs.
        moved: what they did to its canary.
        stored: the evidence as it is to be stored.
    """
    happened = [
        canary_moved(task, stored, one, shares)
        for one in moved
        if version.is_hosted and _is_of_canary(version, one, shares)
    ]
    is_promoted = with_evidence(version, evidence).stage is Stage.CANARY and shares.have_passed(
        evidence.canary
    )
    if is_promoted:
        version = version.model_copy(
            update={
                "canary_at": evidence.sequence,
                "promoted_at": at,
                "promoted_by": BY_ITSELF,
            }
        )
    return Follows(version, is_promoted, happened)


def _is_of_canary(version: ModelVersion, moved: Moved, shares: Shares) -> bool:
    """Whether the version was in its canary then, and its share is another one now."""
    passed = version.canary_at
    if passed is not None and passed >= moved.graduated_at:
        return False
    return moved.kind != "advanced" or moved.canary.steps < len(shares.each)
