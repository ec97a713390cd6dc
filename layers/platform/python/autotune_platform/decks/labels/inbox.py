"""What a person is to rate next: given to nobody else for a while, the judge's result hidden."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta

from autotune.protocol.deck_feedback import RatingTask
from autotune_platform.access.models import Caller
from autotune_platform.decks.labels.choosing import Candidate, to_adjudicate, to_rate
from autotune_platform.decks.labels.graders import LabelledGraders
from autotune_platform.decks.labels.models import Lease
from autotune_platform.decks.labels.pool import SamplePool
from autotune_platform.decks.labels.repository import LabelRepository, give_back
from autotune_platform.decks.models import DeckGrader, GraderVersion, WholeSample
from autotune_platform.decks.sample_repository import SampleRepository
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part

LEASE = timedelta(minutes=15)
"""How long a sample is one person's, from the last time that they asked for it."""

# Others take samples at the same time, and some may have been deleted since they were listed.
_MOST_TRIED = 20


@dataclass(frozen=True)
class InHand:
    """A sample that the caller holds, with what they rate it by."""

    lease: Lease
    sample: WholeSample
    grader: DeckGrader
    version: GraderVersion


@part
class LabelInbox:
    """Gives people samples to rate, one at a time."""

    graders: LabelledGraders
    pool: SamplePool
    samples: SampleRepository
    labels: LabelRepository
    clock: Clock = SYSTEM_CLOCK

    def next(
        self,
        caller: Caller,
        deck_id: str,
        grader_id: str,
        *,
        task: RatingTask,
        skip: Collection[str],
    ) -> tuple[InHand | None, int]:
        """Give the caller what they hold already, else the next sample; keep it from others.

        Args:
            skip: samples that the caller would rather leave to others now.

        Returns:
            What they hold now, None where nothing is left for them; and how many samples are left
            for them, this one included.

        Raises:
            NotFoundError: there is no such deck or grader, or it is another organisation's.
        """
        grader = self.graders.require(caller, deck_id, grader_id)
        now = int(self.clock.unix())
        leases = self.labels.leases(grader.id, now=now)
        held = frozenset(one.sample_id for one in leases if one.holder != caller.principal_id)
        own = {one.sample_id: one for one in leases if one.holder == caller.principal_id}
        for sample_id in own.keys() & set(skip):
            self.labels.store([give_back(grader.id, own[sample_id])])
        candidates = self._candidates(caller, grader, task, held)
        wanted = [one for one in candidates if one.sample_id not in skip]
        # What the caller holds comes first: asking again is not asking for another one.
        ordered = sorted(wanted, key=lambda one: one.sample_id not in own)
        for candidate in ordered[:_MOST_TRIED]:
            lease = self._taken(caller, grader, candidate, task, own.get(candidate.sample_id), now)
            sample = self._whole(deck_id, candidate.sample_id) if lease else None
            if lease is not None and sample is not None:
                version = self.graders.version(grader, lease.version)
                return InHand(lease, sample, grader, version), len(candidates)
        return None, len(candidates)

    def _candidates(
        self, caller: Caller, grader: DeckGrader, task: RatingTask, held: frozenset[str]
    ) -> list[Candidate]:
        rated = self.labels.rated(grader.id)
        rater = caller.principal_id
        if task == "rating":
            halves = self.pool.halves(grader.deck_id)
            return to_rate(grader, rater, halves=halves, rated=rated, held=held)
        apart = to_adjudicate(grader, rated=rated, held=held)
        shown = self.labels.shown(grader.id, [(one.sample_id, rater) for one in apart])
        return [one for one in apart if (one.sample_id, rater) not in shown]

    def _whole(self, deck_id: str, sample_id: str) -> WholeSample | None:
        sample = self.samples.headers(deck_id, [sample_id]).get(sample_id)
        texts = self.samples.texts([sample]).get(sample_id) if sample else None
        return WholeSample(sample=sample, texts=texts) if sample and texts else None

    def _taken(
        self,
        caller: Caller,
        grader: DeckGrader,
        candidate: Candidate,
        task: RatingTask,
        own: Lease | None,
        now: int,
    ) -> Lease | None:
        """Return the caller's lease; None where somebody was faster."""
        until = now + int(LEASE.total_seconds())
        if own is not None and own.task == task:
            return self.labels.extend(grader.id, own, until=until)
        lease = Lease(
            organization_id=grader.organization_id,
            sample_id=candidate.sample_id,
            holder=caller.principal_id,
            until=until,
            task=task,
            selection=candidate.selection,
            probability=candidate.probability,
            version=grader.version,
        )
        return lease if self.labels.take(grader.id, lease, now=now) else None
