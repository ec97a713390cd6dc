"""What must hold before somebody takes or answers a review."""

from datetime import datetime

from autotune_platform.access.models import Caller
from autotune_platform.judging.human.models import Review
from autotune_platform.judging.human.records import ReviewRecords
from autotune_platform.runtime.errors import ReviewAssignedError, ReviewClosedError, ReviewHeldError
from autotune_platform.runtime.parts import part
from autotune_platform.verdicts.service import VerdictService


@part
class ReviewConditions:
    """Refuses, in words that a reviewer understands, and names nobody to others."""

    records: ReviewRecords
    verdicts: VerdictService

    def require_free(self, review: Review, caller: Caller, now: datetime) -> None:
        """See that a review is open, held by nobody else and meant for nobody else.

        Raises:
            ReviewClosedError, ReviewHeldError, ReviewAssignedError: in this order.
        """
        self.require_open(review)
        lease = review.held_at(now)
        if lease is not None and lease.holder != caller.principal_id:
            raise ReviewHeldError("another reviewer holds it at the moment")
        if review.assignee_id not in {None, caller.principal_id}:
            raise ReviewAssignedError("it is assigned to another reviewer")

    def require_open(self, review: Review) -> None:
        """See that a person's word is still wanted; close what got its verdict without it.

        Raises:
            ReviewClosedError: it is not.
        """
        if review.state == "open" and self._is_decided(review):
            withdrawn = review.after(state="withdrawn", lease=None)
            if self.records.change(review, withdrawn):
                review = withdrawn
        match review.state:
            case "open":
                return
            case "answered":
                detail = "somebody answered it"
            case "expired":
                detail = "its time is over"
            case "withdrawn":
                detail = "its completion was canceled, or decided otherwise"
        raise ReviewClosedError(detail, state=review.state)

    def _is_decided(self, review: Review) -> bool:
        return self.verdicts.first(review.completion_id) is not None
