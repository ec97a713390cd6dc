"""Reading reviews, taking them, and answering them."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta

from autotune.protocol.reviews import AnswerReviewRequest, ReviewState
from autotune_platform.access.models import Caller
from autotune_platform.completions.models import Completion
from autotune_platform.completions.open_batches import OpenBatches
from autotune_platform.completions.service import CompletionService
from autotune_platform.judging.human.models import Review, ReviewAnswer, ReviewLease, ReviewSummary
from autotune_platform.judging.human.records import Assignments, ReviewRecords
from autotune_platform.reviews.availability import ReviewAvailability
from autotune_platform.runs.waits import RunWaits
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import (
    ConflictError,
    ForbiddenError,
    NotFoundError,
    ReviewClosedError,
    UnavailableError,
)
from autotune_platform.runtime.parts import part
from autotune_platform.scoring.resolving import PanelResolver
from autotune_platform.verdicts.service import VerdictService

LEASE = timedelta(minutes=15)
"""How long a review is one person's, from the last time that they claimed it."""

_ATTEMPTS = 8


@part
class ReviewService:
    """Reviews of the caller's organisation, or the one review that the caller's link opens.

    A review is taken by a lease of 15 minutes: two people never hold the same one, and one whose
    lease ran out is anybody's again. An answer is recorded first; the verdict and the end of the
    run's wait follow from the record, here or wherever the record is found later.
    """

    records: ReviewRecords
    assignments: Assignments
    availability: ReviewAvailability
    batches: OpenBatches
    completions: CompletionService
    verdicts: VerdictService
    resolver: PanelResolver
    waits: RunWaits
    clock: Clock = SYSTEM_CLOCK

    def list(
        self, caller: Caller, *, state: ReviewState, limit: int, next_token: str | None
    ) -> tuple[list[ReviewSummary], str | None]:
        """Return a page of the organisation's reviews in one state, the oldest first.

        Raises:
            ForbiddenError: the caller came by a link, and it opens one review only, or the state
                is another than open.
            InvalidRequestError: ``next_token`` is not from this list.
        """
        if caller.review_id is not None:
            raise ForbiddenError("this link opens one review, and no list of them")
        if caller.by_link and state != "open":
            raise ForbiddenError("this link opens no reviews but open ones")
        return self.records.of_organization(
            caller.organization_id, state=state, limit=limit, next_token=next_token
        )

    def get(self, caller: Caller, review_id: str, *, with_preliminary: bool = False) -> Review:
        """Return a review; that the caller wants the graders' word is noted before they get it.

        Raises:
            NotFoundError: there is none, or none that the caller may know of.
            ReviewClosedError: it is not open any more, and the caller came by a link.
        """

        def noted(review: Review) -> Review:
            seen = review.was_shown_to(caller.principal_id)
            if not with_preliminary or seen or review.preliminary is None or review.state != "open":
                return review
            seen_by = review.preliminary_seen_by | {caller.principal_id}
            return review.after(preliminary_seen_by=seen_by)

        return self._changed(lambda: self._find_visible(caller, review_id), noted)

    def completion_of(self, review: ReviewSummary) -> Completion | None:
        """Return what is to be judged; None where its text was deleted."""
        return self.completions.load([review.completion_id]).get(review.completion_id)

    def next(self, caller: Caller, *, skip: Sequence[str]) -> tuple[Review | None, bool]:
        """Take the next review for the caller: those assigned to them first, then the oldest.

        A review that the caller holds already is as free for them as any.

        Returns:
            The review that the caller now holds, None where there is none; and whether one was left
            out because it is in ``skip``.

        Raises:
            NotFoundError: the caller's link opens a review that is not there.
            ReviewClosedError, ReviewHeldError, ReviewAssignedError: the one review that the
                caller's link opens is not to be had.
        """
        if caller.review_id is not None:
            if caller.review_id in skip:
                return None, True
            return self.claim(caller, caller.review_id), False
        skipped = False
        for review_id in self.availability.candidates(caller, self.clock.now()):
            if review_id in skip:
                skipped = True
                continue
            with suppress(ConflictError, NotFoundError, UnavailableError):
                return self.claim(caller, review_id), False
        return None, skipped

    def claim(self, caller: Caller, review_id: str) -> Review:
        """Take a review for 15 minutes, or keep it for 15 more.

        Raises:
            NotFoundError: there is none, or none that the caller may know of.
            ReviewClosedError: it is not open any more.
            ReviewHeldError: somebody else holds it.
            ReviewAssignedError: it is for somebody else.
        """

        def claimed(review: Review) -> Review:
            now = self.clock.now()
            self.availability.require_free(review, caller, now)
            if review.expires_at <= now:
                raise ReviewClosedError("its time is over", state="expired")
            return review.after(lease=ReviewLease(holder=caller.principal_id, until=now + LEASE))

        return self._changed(lambda: self._find(caller, review_id), claimed)

    def release(self, caller: Caller, review_id: str) -> Review:
        """Give a review back to the pool; one that the caller does not hold stays as it is.

        Raises:
            NotFoundError: there is none, or none that the caller may know of.
            ReviewClosedError: it is not open any more, and the caller came by a link.
        """

        def released(review: Review) -> Review:
            is_holder = _holder(review) == caller.principal_id
            return review.after(lease=None) if is_holder else review

        return self._changed(lambda: self._find_visible(caller, review_id), released)

    def assign(self, caller: Caller, review_id: str, assignee_id: str | None) -> Review:
        """Assign a review to a person; None gives it back to everybody.

        Who else holds it loses it, except to another reviewer.

        Raises:
            NotFoundError: there is none, or none that the caller may know of.
            ForbiddenError: a reviewer assigns to, or takes from, somebody else.
            ReviewClosedError: it is not open any more.
            ReviewHeldError: a reviewer would take it from who holds it.
        """

        def assigned(review: Review) -> Review:
            others = {review.assignee_id, assignee_id} - {None, caller.principal_id}
            if caller.role == "reviewer":
                if others:
                    raise ForbiddenError("a reviewer assigns reviews to nobody else")
                self.availability.require_free(review, caller, self.clock.now())
            else:
                self.availability.require_open(review)
            if assignee_id is not None:
                self.assignments.note(review, assignee_id)
            kept = review.lease if assignee_id in {None, _holder(review)} else None
            return review.after(assignee_id=assignee_id, lease=kept)

        return self._changed(lambda: self._find(caller, review_id), assigned)

    def answer(self, caller: Caller, review_id: str, request: AnswerReviewRequest) -> Review:
        """Record a person's answer, and have everything follow that follows from it.

        The same answer by the same person again changes nothing: it is what a browser does that did
        not hear of the first. A lease is not needed, only that nobody else holds one.

        Raises:
            NotFoundError: there is none, or none that the caller may know of.
            ReviewClosedError: somebody else answered it, it expired, or its completion got a
                verdict without it.
            ReviewHeldError: the caller's lease ran out, and somebody else holds it.
            ReviewAssignedError: it is for somebody else.
        """

        def answered(review: Review) -> Review:
            if review.answer is not None and review.answer.is_repeated_by(caller, request):
                return review
            now = self.clock.now()
            self.availability.require_free(review, caller, now)
            answer = ReviewAnswer(
                **request.model_dump(),
                reviewer_id=caller.principal_id,
                saw_preliminary=review.was_shown_to(caller.principal_id),
                answered_at=now,
            )
            return review.after(state="answered", lease=None, answer=answer)

        review = self._changed(lambda: self._find(caller, review_id), answered)
        self._follow(review)
        if request.explanation and not self.completions.has_text(review.completion_id):
            self.records.erase_explanation(review.id)  # deleted while it was explained
        return review

    def require(self, caller: Caller, review_id: str) -> None:
        """Require that there is a review.

        Raises:
            NotFoundError: there is none that the caller may see.
        """
        self._find(caller, review_id)

    def _changed(self, find: Callable[[], Review], change: Callable[[Review], Review]) -> Review:
        """Change a review that others may change meanwhile; what ``change`` leaves stays as it is.

        Raises:
            UnavailableError: others kept changing it.
        """
        for _ in range(_ATTEMPTS):
            review = find()
            changed = change(review)
            if changed is review or self.records.change(review, changed):
                return changed
        raise UnavailableError("a review is busy", retry_after_seconds=1)

    def _find(self, caller: Caller, review_id: str) -> Review:
        review = self.records.find(review_id)
        if (
            review is None
            or review.organization_id != caller.organization_id
            or caller.review_id not in {None, review_id}
        ):
            raise NotFoundError(f"no review {review_id}")
        return review

    def _find_visible(self, caller: Caller, review_id: str) -> Review:
        # A link goes on being passed around after what it was for is done.
        review = self._find(caller, review_id)
        if caller.by_link:
            self.availability.require_open(review)
        return review

    def _follow(self, review: Review) -> None:
        # First, so that the sweeper comes soon if this process ends before the verdict is written.
        self.batches.have_looked_at([review.batch_id])
        headers = self.completions.headers_in(review.batch_id, [review.completion_id])
        with self.verdicts.listing():
            self.resolver.resolve(headers, run_id=review.run_id)
        if review.run_id is not None:
            self.waits.wake(review.run_id)
        if review.assignee_id is not None:
            self.assignments.forget(review, review.assignee_id)


def _holder(review: Review) -> str | None:
    return review.lease.holder if review.lease is not None else None
