"""Which reviews a person may take: where the next one is looked for, and what must hold of it."""

from collections.abc import Iterator
from datetime import datetime

from autotune_platform.access.models import Caller
from autotune_platform.completions.service import CompletionService
from autotune_platform.judging.human.models import Review
from autotune_platform.judging.human.records import Assignments, Declined, ReviewRecords
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.review_errors import (
    ReviewAssignedError,
    ReviewClosedError,
    ReviewHeldError,
)
from autotune_platform.verdicts.service import VerdictService

_CLOSED = {
    "answered": "somebody answered it",
    "expired": "its time is over, or people could not judge it",
    "withdrawn": "its completion was canceled, or decided otherwise",
}


@part
class ReviewAvailability:
    """Finds reviews that may be taken, and refuses others without naming anybody.

    A person comes upon their own open reviews first, then upon everybody's by age.
    """

    records: ReviewRecords
    assignments: Assignments
    declined: Declined
    completions: CompletionService
    verdicts: VerdictService

    def candidates(self, caller: Caller, now: datetime) -> Iterator[str]:
        """Yield ids of reviews that may be free for the caller; claiming one shows.

        Hints of assignments that hold no more are dropped on the way. What the caller could not
        judge, or gave the first opinion on, is left out.
        """
        organization_id, reviewer_id = caller.organization_id, caller.principal_id
        hinted = self.assignments.of(organization_id, reviewer_id)
        assigned = self.records.find_many(hinted)
        for review_id in hinted:
            review = assigned.get(review_id)
            if review is not None and review.assignee_id == reviewer_id and review.state == "open":
                yield review_id
            elif review is not None:
                self.assignments.forget(review, reviewer_id)
        declined = self.declined.by(organization_id, reviewer_id)
        for summary in self.records.open_of(organization_id):
            if summary.id in declined:
                continue
            # One whose time is over is closed by who comes upon it, or it would lie here always.
            is_over = summary.expires_at <= now
            if summary.id not in assigned and (is_over or summary.is_free_for(reviewer_id, now)):
                yield summary.id

    def require_free(self, review: Review, caller: Caller, now: datetime) -> None:
        """Require that a review is open, held by nobody else and meant for nobody else.

        Raises:
            ReviewClosedError, ReviewHeldError, ReviewAssignedError: in this order.
        """
        self.require_open(review, now)
        if review.first is not None and review.first.reviewer_id == caller.principal_id:
            raise ReviewAssignedError("a second opinion is another person's than the first")
        lease = review.held_at(now)
        if lease is not None and lease.holder != caller.principal_id:
            raise ReviewHeldError("another reviewer holds it at the moment")
        if review.assignee_id not in {None, caller.principal_id}:
            raise ReviewAssignedError("it is assigned to another reviewer")

    def require_open(self, review: Review, now: datetime) -> None:
        """Require that a person's word is still wanted; close what got its verdict without it.

        A second opinion decides nothing, and nobody else closes it: it is wanted in its time while
        there is a text.

        Raises:
            ReviewClosedError: it is not.
        """
        if review.first is not None and review.state == "open" and review.expires_at <= now:
            review = self.records.expire(review)
        if review.state == "open" and self._is_void(review):
            withdrawn = review.after(state="withdrawn", lease=None)
            if self.records.change(review, withdrawn):
                review = withdrawn
        if review.state != "open":
            raise ReviewClosedError(_CLOSED[review.state], state=review.state)

    def _is_void(self, review: Review) -> bool:
        if review.first is not None:
            return not self.completions.has_text(review.completion_id)
        found = self.verdicts.first(review.completion_id, generation=review.generation)
        return found is not None
