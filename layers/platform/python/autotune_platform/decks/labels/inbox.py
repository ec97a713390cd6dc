"""What a person is to rate next: given to nobody else for a while, the judge's result hidden."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice

from autotune.protocol.deck_feedback import RatingTask
from autotune_platform.access.models import Caller
from autotune_platform.decks.labels.choosing import Candidate, to_adjudicate
from autotune_platform.decks.labels.graders import LabelledGraders
from autotune_platform.decks.labels.hands import MOST_NEW, SHORTEST, Hand, HandStore, dealt
from autotune_platform.decks.labels.models import Lease
from autotune_platform.decks.labels.playing import Play
from autotune_platform.decks.labels.pool import SamplePool
from autotune_platform.decks.labels.rateable import RateableSamples
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


@dataclass(frozen=True)
class _Asked:
    """Who asks for what, and who holds what.

    Attributes:
        own: leases of the caller by sample.
        held: samples that others are at.
        now: Unix seconds.
    """

    caller: Caller
    grader: DeckGrader
    task: RatingTask
    own: Mapping[str, Lease]
    held: frozenset[str]
    skip: frozenset[str]
    now: int


@part
class LabelInbox:
    """Gives people samples to rate, one at a time."""

    graders: LabelledGraders
    pool: SamplePool
    rateable: RateableSamples
    samples: SampleRepository
    labels: LabelRepository
    hands: HandStore
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
            skip: samples that the caller would rather leave to others now. Held-out ones that
                nobody rates are counted: with many of them, nothing is claimed.

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
        if task == "rating" and skip:
            self._note_skipped(grader, skip)
        asked = _Asked(caller, grader, task, own, held, frozenset(skip), now)
        return self._to_rate(asked) if task == "rating" else self._to_adjudicate(asked)

    def _note_skipped(self, grader: DeckGrader, skip: Collection[str]) -> None:
        """Remember what is left to others: who may leave what is hard draws no fair sample."""
        samples = self.pool.get_many(grader.deck_id, skip)
        halves = {one.id: one.split for one in samples.values()}
        self.labels.note_skipped(grader.organization_id, grader.id, halves)

    def _to_rate(self, asked: _Asked) -> tuple[InHand | None, int]:
        """Play from the caller's hand; deal it anew where that may find more."""
        grader, rater = asked.grader, asked.caller.principal_id
        hand = self.hands.get(grader.id, rater)
        # By the clock, one of the same second would pass for one that has just been dealt.
        is_new = hand is None or not hand.holds(grader, now=asked.now)
        if hand is None or is_new:
            hand = self._deal(asked)
        while True:
            newer = self.rateable.of(
                grader.deck_id, after=hand.through, at_most=MOST_NEW + 1, edits=hand.edits
            )
            is_current = newer.read <= MOST_NEW and newer.edits >= {*hand.edits}
            if is_current or is_new:
                play = Play(self.labels, grader, rater, hand, newer.halves, asked.held)
                found = self._first(asked, play.candidates(own=asked.own, skip=asked.skip))
                if (trimmed := play.trimmed()) is not None:
                    self.hands.put(grader.id, rater, trimmed)
                is_sure = is_new or asked.now - hand.made_at < SHORTEST.total_seconds()
                if found is not None or (is_sure and (is_new or not hand.has_more)):
                    return found, play.left
            hand, is_new = self._deal(asked), True

    def _deal(self, asked: _Asked) -> Hand:
        grader, rater = asked.grader, asked.caller.principal_id
        hand = dealt(
            grader,
            rater,
            samples=self.rateable.of(grader.deck_id),
            rated=self.labels.rated(grader.id),
            now=asked.now,
        )
        self.hands.put(grader.id, rater, hand)
        return hand

    def _to_adjudicate(self, asked: _Asked) -> tuple[InHand | None, int]:
        grader = asked.grader
        apart = to_adjudicate(
            grader,
            rated=self.labels.rated(grader.id, state="to_adjudicate"),
            held=asked.held,
        )
        to_rate = self.rateable.among(grader.deck_id, [one.sample_id for one in apart])
        apart = [one for one in apart if one.sample_id in to_rate]
        rater = asked.caller.principal_id
        shown = self.labels.shown(grader.id, [(one.sample_id, rater) for one in apart])
        left = [one for one in apart if (one.sample_id, rater) not in shown]
        wanted = [one for one in left if one.sample_id not in asked.skip]
        # What the caller holds comes first: asking again is not asking for another one.
        ordered = sorted(wanted, key=lambda one: one.sample_id not in asked.own)
        return self._first(asked, ordered), len(left)

    def _first(self, asked: _Asked, candidates: Iterable[Candidate]) -> InHand | None:
        """Take the first sample that is there, and that nobody took meanwhile."""
        grader = asked.grader
        for candidate in islice(candidates, _MOST_TRIED):
            own = asked.own.get(candidate.sample_id)
            lease = self._taken(asked, candidate, own)
            sample = self._whole(grader.deck_id, candidate.sample_id) if lease else None
            if lease is not None and sample is not None:
                version = self.graders.version(grader, lease.version)
                return InHand(lease, sample, grader, version)
        return None

    def _whole(self, deck_id: str, sample_id: str) -> WholeSample | None:
        sample = self.samples.headers(deck_id, [sample_id]).get(sample_id)
        texts = self.samples.texts([sample]).get(sample_id) if sample else None
        return WholeSample(sample=sample, texts=texts) if sample and texts else None

    def _taken(self, asked: _Asked, candidate: Candidate, own: Lease | None) -> Lease | None:
        """Return the caller's lease; None where somebody was faster."""
        grader, until = asked.grader, asked.now + int(LEASE.total_seconds())
        if own is not None and own.task == asked.task:
            return self.labels.extend(grader.id, own, until=until)
        lease = Lease(
            organization_id=grader.organization_id,
            sample_id=candidate.sample_id,
            holder=asked.caller.principal_id,
            until=until,
            task=asked.task,
            selection=candidate.selection,
            probability=candidate.probability,
            version=grader.version,
        )
        return lease if self.labels.take(grader.id, lease, now=asked.now) else None
