"""Evidence as a cache: what is read of it before a pair, and what is written after some.

Evidence that is of other rules than the task's present ones goes on by those, until it is folded
anew (``refolding``): it stays what its pairs say, and pairs keep their order. By the present rules
it says nothing, so nothing that follows from it is published, and no version answers by it.
"""

from autotune_platform.apprentice.evidence import Evidence, Rules, UnusableEvidenceError
from autotune_platform.apprentice.folding.advancing import Advance, rebuilt, written
from autotune_platform.apprentice.folding.events import (
    alarm_raised,
    coverage_fallen,
    model_promoted,
)
from autotune_platform.apprentice.folding.known_tasks import KnownTask, KnownTasks
from autotune_platform.apprentice.folding.models import StoredEvidence
from autotune_platform.apprentice.folding.promoting import what_follows
from autotune_platform.apprentice.folding.repository import EvidenceRepository
from autotune_platform.apprentice.folding.tails import Tails
from autotune_platform.apprentice.folding.versions import with_evidence
from autotune_platform.apprentice.phases import Stage
from autotune_platform.apprentice.versions.models import ModelVersion
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part
from autotune_platform.storage.counting import Addition, Check


def evidence_by(stored: StoredEvidence, rules: Rules) -> Evidence | None:
    """Return a version's evidence; None where it was folded by other rules, or is damaged."""
    try:
        return stored.evidence(rules)
    except UnusableEvidenceError:
        return None


@part
class EvidenceCache:
    """Reads and writes what pairs of versions come to."""

    repository: EvidenceRepository
    tasks: KnownTasks
    tails: Tails
    clock: Clock = SYSTEM_CLOCK

    def advance(self, known: KnownTask, before: StoredEvidence) -> Advance:
        """Return where a version stands before its next pair, by the rules of its evidence."""
        advance = self._pairs(known, before)
        advance.coverage = before.coverage_behind(known.gate(before.version))
        return advance

    def _pairs(self, known: KnownTask, before: StoredEvidence) -> Advance:
        number = before.version
        if before.sequence == 0:
            return Advance(known.rules(number), known.window(number))
        for one in (known, self.tasks.as_of(known, before.configuration_version)):
            if one is None:
                continue
            rules, window = one.rules(number), one.window(number)
            evidence = evidence_by(before, rules)
            if evidence is not None:
                tail = self.tails.get(
                    before.task_id, number, through=before.sequence, window=window
                )
                return Advance(rules, window, evidence, tail, before.score_counts)
        return self._rebuilt(known, before)

    def writes(
        self, known: KnownTask, before: StoredEvidence, advance: Advance
    ) -> list[Addition | Check]:
        """Return what stores evidence with what follows from it."""
        return self.told(known, before, advance)[0]

    def told(
        self, known: KnownTask, before: StoredEvidence, advance: Advance
    ) -> tuple[list[Addition | Check], StoredEvidence]:
        """Return what stores evidence with what follows from it, and the evidence."""
        task, evidence = known.task, advance.evidence
        if advance.rules != known.rules(before.version):
            after = written(before, advance, configuration_version=before.configuration_version)
            return [self.repository.evidence(after, revision=before.revision)], after
        after = written(before, advance, configuration_version=task.version)
        alarms = [one for one in advance.raised if one.kind == "alarm"]
        happened = [alarm_raised(task, after, one) for one in advance.raised]
        happened += [coverage_fallen(task, after, one) for one in advance.fallen]
        version = known.versions[before.version]
        follows = what_follows(
            task,
            version,
            evidence,
            [one for one in advance.moved if one.sequence > before.sequence],
            shares=known.canary,
            stored=after,
            at=self.clock.now(),
        )
        happened += follows.happened
        told_promotion = _promotion(follows.version, before, evidence)
        after = after.model_copy(
            update={
                "told_alarm": alarms[-1].pair.sequence if alarms else before.told_alarm,
                "told_emergency": evidence.emergency_at is not None,
                "told_promotion": told_promotion,
            }
        )
        if told_promotion != before.told_promotion:
            happened.append(model_promoted(task, after, evidence, at=self.clock.now()))
        writes: list[Addition | Check] = []
        for event, change in happened:
            writes += (self.repository.event(task, event), self.repository.change(change))
        if follows.is_required:
            writes.append(self.repository.version(version, follows.version))
            # What this process knows of it may be over.
            self.tasks.forget_versions(task.id)
        return [self.repository.evidence(after, revision=before.revision), *writes], after

    def is_news(self, known: KnownTask, before: StoredEvidence, evidence: Evidence | None) -> bool:
        """Return whether evidence of the present rules has something to be published."""
        if evidence is None:
            return False
        version = known.versions[before.version]
        if with_evidence(version, evidence).stage is Stage.CANARY:
            return known.canary.have_passed(evidence.canary)
        return _promotion(version, before, evidence) != before.told_promotion

    def _rebuilt(self, known: KnownTask, before: StoredEvidence) -> Advance:
        """Fold all pairs of a version whose evidence cannot be read, or is of another form."""
        number = before.version
        pairs = self.repository.pairs(before.task_id, number)
        advance = rebuilt(
            (pair for pair in pairs if pair.sequence <= before.sequence),
            known.rules(number),
            known.window(number),
        )
        # An alarm that was none when it happened is not published; an emergency still holds.
        is_told = before.told_emergency
        advance.raised = [one for one in advance.raised if one.kind != "alarm" and not is_told]
        return advance


def _promotion(version: ModelVersion, before: StoredEvidence, evidence: Evidence) -> int | None:
    """Return the promotion that is published with the evidence, or was before."""
    serves = with_evidence(version, evidence).stage is Stage.SERVES
    return version.canary_at if serves else before.told_promotion
