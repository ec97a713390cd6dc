"""Whether a version graduated, as its stored evidence says under the task's present rules."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autotune_platform.apprentice.evidence import Evidence, Rules, UnusableEvidenceError
from autotune_platform.apprentice.versions.models import ModelVersion
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


def graduation_of(
    item: Mapping[str, Any],
    *,
    document: Mapping[str, Any],
    version: ModelVersion,
    known: Sequence[ModelVersion],
) -> Graduation:
    """Return that a version graduated.

    Args:
        item: what is stored of its evidence.
        document: the task's present configuration, whose rules count.
        known: all versions of the task.

    Raises:
        ConflictError: it did not, or had an emergency.
        UnavailableError: its evidence was folded by other rules, and is being rebuilt.
    """
    rules = _rules_of(document, attempt=_attempt(version, known))
    try:
        evidence = Evidence.from_json(item["state"], rules)
    except UnusableEvidenceError as error:
        raise UnavailableError(
            f"evidence of version {version.number} is rebuilt by the present rules",
            retry_after_seconds=60,
        ) from error
    if evidence.emergency_at is not None:
        raise ConflictError(f"version {version.number} raised an emergency, and is out for good")
    if evidence.graduated_at is None:
        raise ConflictError(
            f"version {version.number} has not graduated after {evidence.pairs} drawn pairs"
        )
    return Graduation(evidence.graduated_at, evidence.sequence, item["revision"])


def _attempt(version: ModelVersion, known: Sequence[ModelVersion]) -> int:
    return sum(
        one.definition_hash == version.definition_hash and one.number <= version.number
        for one in known
    )


def _rules_of(document: Mapping[str, Any], *, attempt: int) -> Rules:
    thresholds, confidence = document["thresholds"], document["confidence"]
    return Rules(
        graduation=thresholds["phase2ToPhase3"],
        coaching=thresholds["coachingTrigger"],
        emergency=thresholds["emergencyThreshold"],
        alpha=confidence["alpha"],
        false_alarm_pairs=confidence["falseAlarmPairs"],
        attempt=attempt,
    )
