"""What one person says of one sample, recorded with what they had been shown before."""

from typing import Any

from autotune.protocol.deck_feedback import CreateFeedbackRequest
from autotune.protocol.ids import derived_id
from autotune.protocol.limits import MAX_SAMPLE_RATERS
from autotune_platform.access.models import Caller
from autotune_platform.decks.held_out import HeldOut
from autotune_platform.decks.labels.deriving import with_rating
from autotune_platform.decks.labels.drifting import DriftWatch
from autotune_platform.decks.labels.graders import LabelledGraders
from autotune_platform.decks.labels.models import Lease, Rating, Truth, criteria_digest
from autotune_platform.decks.labels.pool import PooledSample, SamplePool
from autotune_platform.decks.labels.repository import (
    LabelRepository,
    give_back,
    nothing_shown,
    put_rating,
    put_truth,
    show_result,
)
from autotune_platform.decks.labels.results import JudgeResults, JudgeWord
from autotune_platform.decks.models import DeckGrader, GraderVersion
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import ConflictError, NotFoundError, UnavailableError
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.retry import BUSY
from autotune_platform.storage.transactions import Write

_ATTEMPTS = 8


@part
class RatingService:
    """Records ratings: the first of a person blind where nothing was shown to them before.

    The rating, the ground truth that follows from it, and that the judge's result is shown to the
    person from now on are written together, or not at all.
    """

    graders: LabelledGraders
    samples: SamplePool
    labels: LabelRepository
    results: JudgeResults
    held_out: HeldOut
    watch: DriftWatch
    clock: Clock = SYSTEM_CLOCK

    def rate(
        self, caller: Caller, deck_id: str, grader_id: str, request: CreateFeedbackRequest
    ) -> tuple[Rating, JudgeWord | None]:
        """Record a person's rating, or a correction of it; the same again changes nothing.

        Returns:
            The rating, and what the grader's current version said of the sample, if it did.

        Raises:
            NotFoundError: there is no such deck, grader or sample, or it is another
                organisation's.
            InvalidRequestError: the grader has no such version, or they were not shown it.
            ConflictError: somebody else holds the sample, a reviewer was not given it, or it has
                as many raters as it may.
            UnavailableError: others keep rating the same sample.
        """
        grader = self.graders.require(caller, deck_id, grader_id)
        version = self.graders.version(grader, request.version)
        sample = self.samples.get(deck_id, request.sample_id)
        for _ in BUSY.attempts(_ATTEMPTS):
            found = self._rated(caller, grader, version, sample, request)
            if found is not None:
                self._require_kept(grader, sample)
                return found
        raise UnavailableError("others are rating the same sample", retry_after_seconds=1)

    def _rated(
        self,
        caller: Caller,
        grader: DeckGrader,
        version: GraderVersion,
        sample: PooledSample,
        request: CreateFeedbackRequest,
    ) -> tuple[Rating, JudgeWord | None] | None:
        """Return the rating once it is stored; None where something else was written meanwhile."""
        rater = caller.principal_id
        held = self._own_lease(caller, grader, sample)
        truth = self.labels.truth(grader.id, sample.id)
        before = self._latest(truth, rater)
        if before is None and held is None and caller.role == "reviewer":
            raise ConflictError("a reviewer rates samples that feedback/next gave them")
        saw = bool(self.labels.shown(grader.id, [(sample.id, rater)]))
        result = self._result(grader, sample)
        if before is not None and _says_the_same(before, request):
            if result is not None and not saw:
                self.labels.note_shown(grader.organization_id, grader.id, rater, [sample.id])
            return before, result
        given = [one.version for one in (held, before) if one is not None]
        self.graders.require_shown(grader, version.version, *given)
        rating = Rating(
            **identity(grader, sample.id, rater, before.correction + 1 if before else 0),
            score=request.score,
            explanation=request.explanation,
            version=version.version,
            criteria=criteria_digest(version.rubric),
            saw_result=saw,
            **_selection(before or held),
            created_at=self.clock.now(),
        )
        writes: list[Write] = [
            put_rating(rating),
            put_truth(
                with_rating(truth or first_truth(sample, rating), rating),
                revision=truth.revision if truth else 0,
            ),
        ]
        if not saw:
            # Either way the rating is blind only if nothing is shown before it is written.
            is_shown = result is not None
            writes.append(
                show_result(rating) if is_shown else nothing_shown(grader.id, sample.id, rater)
            )
        if held is not None:
            writes.append(give_back(grader.id, held))
        if not self.labels.store(writes):
            return None
        is_drawn = sample.split == "holdout" and rating.selection == "random"
        if is_drawn and not saw and not (truth and truth.was_drawn):
            self.watch.after_label(grader, sample.id)
        return rating, result

    def _result(self, grader: DeckGrader, sample: PooledSample) -> JudgeWord | None:
        """Return what the current version said, where that may be shown: looks are counted."""
        result = self.results.of_sample(grader.id, grader.version, sample.id)
        if result is None or sample.split == "development":
            return result
        return result if self.held_out.show(grader, grader.version) else None

    def _require_kept(self, grader: DeckGrader, sample: PooledSample) -> None:
        """Erase what was said of a sample that was deleted while it was said.

        Raises:
            NotFoundError: it was.
        """
        try:
            self.samples.get(grader.deck_id, sample.id)
        except NotFoundError:
            self.labels.erase([grader.id], sample.id)
            raise

    def _own_lease(self, caller: Caller, grader: DeckGrader, sample: PooledSample) -> Lease | None:
        """Return the caller's lease; one that ran out is theirs while nobody else takes it.

        Raises:
            ConflictError: somebody else holds the sample.
        """
        lease = self.labels.lease(grader.id, sample.id)
        if lease is None or lease.task != "rating":
            return None
        if lease.holder == caller.principal_id:
            return lease
        if lease.until > self.clock.unix():
            raise ConflictError("another person is rating this sample at the moment")
        return None

    def _latest(self, truth: Truth | None, rater: str) -> Rating | None:
        voice = truth.voices.get(rater) if truth else None
        if truth is None or voice is None:
            require_room(truth)
            return None
        return self.labels.rating(
            truth.grader_id, truth.sample_id, rater, correction=voice.corrections
        )


def identity(grader: DeckGrader, sample_id: str, rater: str, correction: int) -> dict[str, Any]:
    """Return what names a rating; the same rating has the same id."""
    return {
        "id": derived_id("fbk", grader.id, sample_id, rater, str(correction)),
        "organization_id": grader.organization_id,
        "deck_id": grader.deck_id,
        "grader_id": grader.id,
        "sample_id": sample_id,
        "rater": rater,
        "correction": correction,
    }


def first_truth(sample: PooledSample, rating: Rating) -> Truth:
    """Return the truth of a sample that nobody rated before; it is not stored yet."""
    return Truth(
        organization_id=rating.organization_id,
        deck_id=rating.deck_id,
        grader_id=rating.grader_id,
        sample_id=sample.id,
        split=sample.split,
        group_key=sample.group_key,
        selection=rating.selection,
        probability=rating.probability,
        first_at=rating.created_at,
        updated_at=rating.created_at,
    )


def require_room(truth: Truth | None) -> None:
    """Require that one more person may rate a sample.

    Raises:
        ConflictError: as many did as may.
    """
    if truth is not None and len(truth.voices) >= MAX_SAMPLE_RATERS:
        raise ConflictError(f"{MAX_SAMPLE_RATERS} people rated this sample, and no more may")


def _selection(source: Rating | Lease | None) -> dict[str, Any]:
    if source is None:
        return {"selection": "chosen", "probability": None}
    return {"selection": source.selection, "probability": source.probability}


def _says_the_same(before: Rating, request: CreateFeedbackRequest) -> bool:
    said = (before.score, before.explanation)
    is_shown_version = request.version in {None, before.version}
    return said == (request.score, request.explanation) and is_shown_version
