"""What a reviewer says: an answer, a correction of it, or that they cannot judge."""

import math
from collections.abc import Sequence
from datetime import datetime, timedelta

from autotune.protocol.reviews import AnswerReviewRequest, CannotJudgeRequest
from autotune.protocol.tasks import ReviewPolicy
from autotune_platform.access.models import Caller
from autotune_platform.completions.open_batches import OpenBatches
from autotune_platform.completions.service import CompletionService
from autotune_platform.judging.human.figures import ReviewFigures
from autotune_platform.judging.human.models import (
    CannotJudge,
    Review,
    ReviewAnswer,
    second_is_drawn,
    second_review_id,
)
from autotune_platform.judging.human.records import Assignments, Declined, ReviewRecords
from autotune_platform.reviews.availability import ReviewAvailability
from autotune_platform.reviews.changes import ReviewChanges
from autotune_platform.runs.waits import RunWaits
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import ForbiddenError
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.review_errors import ReviewFinalError
from autotune_platform.scoring.resolving import PanelResolver
from autotune_platform.storage.counting import Addition
from autotune_platform.verdicts.panels import PanelRecords
from autotune_platform.verdicts.service import VerdictService

# A second opinion may be asked a while after the first was given, and hints cost nothing.
_LONGER = timedelta(days=1)


@part
class ReviewAnswering:
    """Records what reviewers say, and has everything follow that follows from it.

    An answer is recorded first; the verdict and the end of the run's wait follow from the record,
    here or wherever the record is found later. A second opinion has no verdict that follows.
    """

    records: ReviewRecords
    assignments: Assignments
    availability: ReviewAvailability
    declined: Declined
    changes: ReviewChanges
    figures: ReviewFigures
    batches: OpenBatches
    completions: CompletionService
    verdicts: VerdictService
    panels: PanelRecords
    resolver: PanelResolver
    waits: RunWaits
    clock: Clock = SYSTEM_CLOCK

    def answer(self, caller: Caller, review_id: str, request: AnswerReviewRequest) -> Review:
        """Record a person's answer.

        The same answer by the same person again changes nothing: it is what a browser does that did
        not hear of the first. A lease is not needed, only that nobody else holds one.

        Raises:
            NotFoundError: there is none, or none that the caller may know of.
            ReviewClosedError: somebody else answered it, it expired, or its completion got a
                verdict without it.
            ReviewHeldError: the caller's lease ran out, and somebody else holds it.
            ReviewAssignedError: it is for somebody else, or for anybody but who answered first.
        """

        def answered(review: Review) -> Review:
            if review.answer is not None and review.answer.is_repeated_by(caller, request):
                return review
            now = self.clock.now()
            self.availability.require_free(review, caller, now)
            policy = self.panels.get(review.panel_id).review or ReviewPolicy()
            until = min(now + timedelta(minutes=policy.correct_within_minutes), review.expires_at)
            return review.after(
                state="answered",
                lease=None,
                answer=ReviewAnswer(
                    **request.model_dump(),
                    reviewer_id=caller.principal_id,
                    saw_preliminary=review.was_shown_to(caller.principal_id),
                    answered_at=now,
                ),
                correctable_until=until if until > now else None,
                second_id=self._draw_second(caller, review, policy, now),
            )

        def counted(before: Review, after: Review) -> Sequence[Addition]:
            now = self.clock.now()
            return [
                *self.figures.done(after, caller.principal_id, now, what="answered"),
                *self.figures.agreed(before, after, now),
            ]

        review = self.changes.changed(
            lambda: self.changes.find(caller, review_id), answered, counted=counted
        )
        self._follow(review)
        self._erase_where_deleted(review, request.explanation)
        return review

    def correct(self, caller: Caller, review_id: str, request: AnswerReviewRequest) -> Review:
        """Change the caller's own answer while its verdict waits for that.

        The same correction again changes nothing.

        Raises:
            NotFoundError: there is none, or none that the caller may know of.
            ForbiddenError: somebody else answered it.
            ReviewFinalError: nobody did, its time for corrections is over, or its completion got a
                verdict without it.
        """

        def corrected(review: Review) -> Review:
            if review.answer is None:
                raise ReviewFinalError("it has no answer that could be corrected")
            if review.answer.reviewer_id != caller.principal_id:
                raise ForbiddenError("only who answered a review corrects the answer")
            if review.answer.is_repeated_by(caller, request):
                return review
            now = self.clock.now()
            if review.correctable_until is None or review.correctable_until <= now:
                raise ReviewFinalError("the time in which it can be corrected is over")
            if review.first is None and self.verdicts.first(
                review.completion_id, generation=review.generation
            ):
                raise ReviewFinalError("its completion was canceled, or decided otherwise")
            answer = ReviewAnswer(
                **request.model_dump(),
                reviewer_id=caller.principal_id,
                saw_preliminary=review.was_shown_to(caller.principal_id),
                answered_at=review.answer.answered_at,
                corrected_at=now,
            )
            return review.after(answer=answer)

        def counted(before: Review, after: Review) -> Sequence[Addition]:
            now = self.clock.now()
            return [
                *self.figures.done(after, caller.principal_id, now, what="corrected"),
                *self.figures.agreed(before, after, now),
            ]

        review = self.changes.changed(
            lambda: self.changes.find(caller, review_id), corrected, counted=counted
        )
        self._erase_where_deleted(review, request.explanation)
        return review

    def cannot_judge(self, caller: Caller, review_id: str, request: CannotJudgeRequest) -> Review:
        """Record that a person cannot judge: others get the review, or it ends without an answer.

        Saying it again changes nothing.

        Raises:
            NotFoundError: there is none, or none that the caller may know of.
            ReviewClosedError, ReviewHeldError, ReviewAssignedError: as of an answer.
        """

        def passed_on(review: Review) -> Review:
            if review.cannot_be_judged_by(caller.principal_id):
                return review
            now = self.clock.now()
            self.availability.require_free(review, caller, now)
            self._leave_out(caller, review.id, review.expires_at)
            said = CannotJudge(
                reviewer_id=caller.principal_id,
                reason=request.reason,
                explanation=request.explanation,
                at=now,
            )
            return review.after_cannot_judge(said)

        def counted(_before: Review, after: Review) -> Sequence[Addition]:
            return self.figures.done(
                after, caller.principal_id, self.clock.now(), what="cannot_judge"
            )

        review = self.changes.changed(
            lambda: self.changes.find(caller, review_id), passed_on, counted=counted
        )
        if review.state == "expired":
            self._follow(review)
        self._erase_where_deleted(review, request.explanation)
        return review

    def _draw_second(
        self, caller: Caller, review: Review, policy: ReviewPolicy, now: datetime
    ) -> str | None:
        """Return by which review another person is to be asked, if one is drawn."""
        if review.first is not None or not second_is_drawn(review.id, policy.second_opinion_share):
            return None
        second_id = second_review_id(review.id)
        minutes = policy.correct_within_minutes
        expires = timedelta(minutes=minutes, seconds=policy.expires_after_seconds)
        self._leave_out(caller, second_id, now + expires)
        return second_id

    def _leave_out(self, caller: Caller, review_id: str, expires_at: datetime) -> None:
        """Have a person not be offered a review; noted before it is so, or it never would be."""
        until = int((expires_at + _LONGER).timestamp())
        self.declined.note(caller.organization_id, caller.principal_id, review_id, until=until)

    def _erase_where_deleted(self, review: Review, explanation: str) -> None:
        if explanation and not self.completions.has_text(review.completion_id):
            self.records.erase_explanation(review.id)  # deleted while it was explained

    def _follow(self, review: Review) -> None:
        if review.first is None:
            self._decide(review)
        if review.assignee_id is not None:
            self.assignments.forget(review, review.assignee_id)

    def _decide(self, review: Review) -> None:
        # First, so that the sweeper comes soon if this process ends before the verdict is written.
        self.batches.have_looked_at([review.batch_id])
        headers = self.completions.headers_in(review.batch_id, [review.completion_id])
        with self.verdicts.listing():
            self.resolver.resolve(headers, run_id=review.run_id)
        if review.run_id is None:
            return
        if review.correctable_until is None:
            self.waits.wake(review.run_id)
            return
        left = (review.correctable_until - self.clock.now()).total_seconds()
        self.waits.look_again_within(review.run_id, max(1, math.ceil(left)))
