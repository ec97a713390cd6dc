"""What organisations are told of reviews."""

from autotune.protocol.events import ReviewRequested
from autotune.protocol.ids import derived_id
from autotune_platform.judging.human.models import Review
from autotune_platform.webhooks.models import Event


def review_requested(review: Review, *, link: str) -> Event:
    """Return the event that a person is asked; it holds nothing of what is to be judged."""
    data = ReviewRequested(
        review_id=review.id,
        completion_id=review.completion_id,
        task_id=review.task_id,
        reason=review.reason,
        expires_at=review.expires_at,
        link=link,
    )
    return Event(
        id=derived_id("evt", "review.requested", review.id),
        type="review.requested",
        organization_id=review.organization_id,
        occurred_at=review.created_at,
        data=data.model_dump(mode="json", by_alias=True),
    )
