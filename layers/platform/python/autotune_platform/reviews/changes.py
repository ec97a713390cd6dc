"""Finding the reviews that a caller may know of, and changing them beside others who do."""

from collections.abc import Callable, Sequence

from autotune_platform.access.models import Caller
from autotune_platform.judging.human.models import Review
from autotune_platform.judging.human.records import ReviewRecords
from autotune_platform.reviews.availability import ReviewAvailability
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import NotFoundError, UnavailableError
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.retry import BUSY
from autotune_platform.storage.counting import Addition

_ATTEMPTS = 8


def _nothing(_before: Review, _after: Review) -> Sequence[Addition]:
    return ()


@part
class ReviewChanges:
    """Changes reviews of the caller's organisation, or the one that the caller's link opens."""

    records: ReviewRecords
    availability: ReviewAvailability
    clock: Clock = SYSTEM_CLOCK

    def find(self, caller: Caller, review_id: str) -> Review:
        """Return a review.

        Raises:
            NotFoundError: there is none, or none that the caller may know of.
        """
        review = self.records.find(review_id)
        if (
            review is None
            or review.organization_id != caller.organization_id
            or caller.review_id not in {None, review_id}
        ):
            raise NotFoundError(f"no review {review_id}")
        return review

    def find_visible(self, caller: Caller, review_id: str) -> Review:
        """Return a review that the caller may read.

        Raises:
            NotFoundError: there is none, or none that the caller may know of.
            ReviewClosedError: it is not open any more, and the caller came by a link.
        """
        # A link goes on being passed around after what it was for is done.
        review = self.find(caller, review_id)
        if caller.by_link:
            self.availability.require_open(review, self.clock.now())
        return review

    def changed(
        self,
        find: Callable[[], Review],
        change: Callable[[Review], Review],
        *,
        counted: Callable[[Review, Review], Sequence[Addition]] = _nothing,
    ) -> Review:
        """Change a review that others may change meanwhile; what ``change`` leaves stays as it is.

        Args:
            counted: what a change from one to the other counts for.

        Raises:
            UnavailableError: others kept changing it.
        """
        for _ in BUSY.attempts(_ATTEMPTS):
            review = find()
            changed = change(review)
            if changed is review:
                return review
            if self.records.change(review, changed, counted=counted(review, changed)):
                return changed
        raise UnavailableError("a review is busy", retry_after_seconds=1)
