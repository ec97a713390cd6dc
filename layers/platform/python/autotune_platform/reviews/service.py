"""Reading reviews, and taking them."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta

from autotune.protocol.levels import LEVELS, LevelsRubric
from autotune.protocol.reviews import ReviewRubric, ReviewState
from autotune.protocol.rubrics import RubricConfiguration, RubricLevels
from autotune.protocol.tasks import ReviewPolicy
from autotune_platform.access.models import Caller
from autotune_platform.checks.rubrics import uncalibrated
from autotune_platform.completions.models import Completion
from autotune_platform.completions.service import CompletionService
from autotune_platform.graders.directory import GraderDirectory
from autotune_platform.judging.human.models import Review, ReviewLease, ReviewSummary
from autotune_platform.judging.human.records import Assignments, ReviewRecords
from autotune_platform.reviews.availability import ReviewAvailability
from autotune_platform.reviews.changes import ReviewChanges
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import (
    ConflictError,
    ForbiddenError,
    NotFoundError,
    UnavailableError,
)
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.review_errors import ReviewClosedError
from autotune_platform.verdicts.panels import PanelRecords

LEASE = timedelta(minutes=15)
"""How long a review is one person's, from the last time that they claimed it."""


@part
class ReviewService:
    """Reviews of the caller's organisation, or the one review that the caller's link opens.

    A review is taken by a lease of 15 minutes: two people never hold the same one, and one whose
    lease ran out is anybody's again.
    """

    records: ReviewRecords
    assignments: Assignments
    availability: ReviewAvailability
    changes: ReviewChanges
    completions: CompletionService
    panels: PanelRecords
    graders: GraderDirectory
    clock: Clock = SYSTEM_CLOCK

    def list(
        self,
        caller: Caller,
        *,
        state: ReviewState,
        task_id: str | None = None,
        limit: int,
        next_token: str | None,
    ) -> tuple[list[ReviewSummary], str | None]:
        """Return a page of the organisation's reviews in one state, the oldest first.

        Args:
            task_id: only those of this task; then a page may be short, with more to come.

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
            caller.organization_id,
            state=state,
            task_id=task_id,
            limit=limit,
            next_token=next_token,
        )

    def get(self, caller: Caller, review_id: str, *, with_preliminary: bool = False) -> Review:
        """Return a review; that the caller wants the graders' word is noted before they get it.

        Raises:
            NotFoundError: there is none, or none that the caller may know of.
            ReviewClosedError: it is not open any more, and the caller came by a link.
        """

        def noted(review: Review) -> Review:
            seen = review.was_shown_to(caller.principal_id)
            if not with_preliminary or seen or review.preliminary is None or not review.is_awaited:
                return review
            seen_by = review.preliminary_seen_by | {caller.principal_id}
            return review.after(preliminary_seen_by=seen_by)

        return self.changes.changed(lambda: self.changes.find_visible(caller, review_id), noted)

    def completion_of(self, review: ReviewSummary) -> Completion | None:
        """Return what is to be judged; None where its text was deleted."""
        return self.completions.load([review.completion_id]).get(review.completion_id)

    def policy_of(self, review: ReviewSummary) -> ReviewPolicy:
        """Return what the task said of its reviews when the completion was submitted."""
        return self.panels.get(review.panel_id).review or ReviewPolicy()

    def rubrics_of(self, review: ReviewSummary) -> Sequence[ReviewRubric]:
        """Return what the organisation's own rubric graders that judged go by, as it is now.

        What another organisation's public grader goes by is its secret.
        """
        members = self.panels.get(review.panel_id).members
        graders = self.graders.of_organization(
            review.organization_id, [member.grader_id for member in members]
        )
        configured = (
            (grader.name, RubricConfiguration.model_validate(grader.rubric))
            for grader in graders
            if grader.rubric is not None
        )
        return [
            ReviewRubric(
                name=name,
                system=one.system,
                user=_shown_levels(one.answer)
                if isinstance(one.answer, RubricLevels)
                else one.user or "",
                answer=uncalibrated(one).answer,
            )
            for name, one in configured
        ]

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
            if self.changes.find(caller, caller.review_id).cannot_be_judged_by(caller.principal_id):
                return None, False
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

        return self.changes.changed(lambda: self.changes.find(caller, review_id), claimed)

    def release(self, caller: Caller, review_id: str) -> Review:
        """Give a review back to the pool; one that the caller does not hold stays as it is.

        Raises:
            NotFoundError: there is none, or none that the caller may know of.
            ReviewClosedError: it is not open any more, and the caller came by a link.
        """

        def released(review: Review) -> Review:
            is_holder = _holder(review) == caller.principal_id
            return review.after(lease=None) if is_holder else review

        return self.changes.changed(lambda: self.changes.find_visible(caller, review_id), released)

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
                self.availability.require_open(review, self.clock.now())
            if assignee_id is not None:
                self.assignments.note(review, assignee_id)
            kept = review.lease if assignee_id in {None, _holder(review)} else None
            return review.after(assignee_id=assignee_id, lease=kept)

        return self.changes.changed(lambda: self.changes.find(caller, review_id), assigned)

    def require(self, caller: Caller, review_id: str) -> None:
        """Require that there is a review.

        Raises:
            NotFoundError: there is none that the caller may see.
        """
        self.changes.find(caller, review_id)


def _holder(review: Review) -> str | None:
    return review.lease.holder if review.lease is not None else None


def _shown_levels(rubric: LevelsRubric) -> str:
    """Return what a rubric of levels says, as its judge reads it."""
    levels = [f"{level}: {text}" for level, text in zip(LEVELS, rubric.levels, strict=True)]
    parts = [rubric.criteria, "\n".join(levels)]
    if rubric.not_applicable_when:
        parts.append(f"It does not apply when: {rubric.not_applicable_when}")
    return "\n\n".join(parts)
