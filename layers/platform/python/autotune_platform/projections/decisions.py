"""Audit entries of decisions: one for each batch and grader whenever verdicts are counted."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping

from autotune.protocol.audit import AuditedDecision, DecidedCompletions
from autotune.protocol.completions import DecidedBy, ReasonCode, VerdictState
from autotune.protocol.ids import derived_id
from autotune_platform.projections.models import Checkpoint, CheckpointKey
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part
from autotune_platform.storage.counting import Addition
from autotune_platform.verdicts.decisions import Decision


@part
class DecisionAudit:
    """Makes the audit entries of verdicts that are being counted.

    The transaction that counts a verdict writes its entry, so each entry is written exactly once.
    The time of an entry is the time of its writing, so a day gets no entries after its export.

    Attributes:
        addition: returns the addition of an entry to an organisation's log.
    """

    addition: Callable[[str, AuditedDecision], Addition]
    clock: Clock = SYSTEM_CLOCK

    def additions(
        self, counted: Iterable[Decision], checkpoints: Mapping[CheckpointKey, Checkpoint]
    ) -> list[Addition]:
        """Return the additions to the audit log, one for each of the verdicts' ``entries``.

        Args:
            counted: verdicts and opinions that are being counted.
            checkpoints: the checkpoints of their batches, with these verdicts.
        """
        now = self.clock.now()
        groups: dict[tuple[CheckpointKey, str, str], list[Decision]] = defaultdict(list)
        for verdict in counted:
            groups[_group(verdict)].append(verdict)
        return [
            self.addition(
                verdicts[0].organization_id,
                AuditedDecision(
                    id=_entry_id(checkpoints[group[0]], *group[1:]),
                    time=now,
                    batch_id=verdicts[0].batch_id,
                    grader_id=verdicts[0].grader_id,
                    grader_version=verdicts[0].grader_version,
                    generation=verdicts[0].generation,
                    decided_at=max(verdict.decided_at for verdict in verdicts),
                    verdicts=_alike(verdicts),
                ),
            )
            for group, verdicts in groups.items()
        ]


def entries(verdict: Decision) -> set[Hashable]:
    """Return the key of a verdict's audit entry; its transaction writes one item for each key."""
    return {("audit", *_group(verdict))}


def _group(verdict: Decision) -> tuple[CheckpointKey, str, str]:
    key = CheckpointKey(verdict.batch_id, verdict.generation)
    return key, verdict.grader_id, verdict.grader_version


def _entry_id(checkpoint: Checkpoint, grader_id: str, version: str) -> str:
    later = [str(checkpoint.generation)] if checkpoint.generation else []
    named = [checkpoint.batch_id, grader_id, version, str(checkpoint.version)]
    return derived_id("aud", *named, *later)


def _alike(verdicts: list[Decision]) -> list[DecidedCompletions]:
    by_outcome: dict[tuple[VerdictState, ReasonCode | None, DecidedBy], list[str]] = defaultdict(
        list
    )
    for verdict in verdicts:
        outcome = verdict.state, verdict.reason_code, verdict.decided_by
        by_outcome[outcome].append(verdict.completion_id)
    return [
        DecidedCompletions(state=state, reason_code=code, decided_by=decided_by, completion_ids=ids)
        for (state, code, decided_by), ids in by_outcome.items()
    ]
