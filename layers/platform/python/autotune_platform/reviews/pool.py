"""Where the next review for a person is looked for."""

from collections.abc import Iterator
from datetime import datetime

from autotune_platform.access.models import Caller
from autotune_platform.judging.human.models import Review
from autotune_platform.judging.human.records import Assignments, ReviewRecords
from autotune_platform.runtime.parts import part


@part
class ReviewPool:
    """Open reviews as a person comes upon them: their own first, then everybody's by age."""

    records: ReviewRecords
    assignments: Assignments

    def candidates(self, caller: Caller, now: datetime) -> Iterator[str]:
        """Yield ids of reviews that may be free for the caller; claiming one tells.

        Hints of assignments that hold no more are dropped on the way.
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
        for summary in self.records.open_of(organization_id):
            # One whose time is over is closed by who comes upon it, or it would lie here always.
            is_over = summary.expires_at <= now
            if summary.id not in assigned and (is_over or summary.is_free_for(reviewer_id, now)):
                yield summary.id

    def assign(self, review: Review, assignee_id: str) -> None:
        """Have a review found first by the person whom it is about to be assigned to."""
        self.assignments.note(review, assignee_id)

    def forget(self, review: Review) -> None:
        """Have a review that is done looked up no more."""
        if review.assignee_id is not None:
            self.assignments.forget(review, review.assignee_id)
