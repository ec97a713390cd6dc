"""Whether a version graduated, as its stored evidence says under the task's present rules."""

from dataclasses import dataclass

from autotune_platform.apprentice.evidence import Rules, UnusableEvidenceError
from autotune_platform.apprentice.folding.models import StoredEvidence
from autotune_platform.runtime.errors import ConflictError, UnavailableError


@dataclass(frozen=True)
class Graduation:
    """That a version graduated.

    Attributes:
        graduated_at: the pair at which it did.
        sequence: its last pair.
        revision: of the stored evidence that says so.
    """

    graduated_at: int
    sequence: int
    revision: int


def graduation_of(stored: StoredEvidence, rules: Rules) -> Graduation:
    """Return that a version graduated by rules.

    Raises:
        ConflictError: it did not, or had an emergency.
        UnavailableError: its evidence was folded by other rules, and is being rebuilt.
    """
    name = f"version {stored.version}"
    try:
        evidence = stored.evidence(rules)
    except UnusableEvidenceError as error:
        raise UnavailableError(
            f"evidence of {name} is to be folded by the present rules", retry_after_seconds=60
        ) from error
    if evidence.emergency_at is not None:
        raise ConflictError(f"{name} raised an emergency, and is out for good")
    if evidence.graduated_at is None:
        raise ConflictError(f"{name} has not graduated after {evidence.pairs} drawn pairs")
    return Graduation(evidence.graduated_at, evidence.sequence, stored.revision)
