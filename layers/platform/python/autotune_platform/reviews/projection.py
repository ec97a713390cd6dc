"""What follows from the request of a review: webhooks and an SNS topic announce it.

Reviews come from the table's stream, at least once. The event's id and its link follow from the
review, so that a repetition announces the same event; the topic's subscribers may get it twice,
with the same ``eventId``.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from autotune.protocol.events import ReviewRequested
from autotune.protocol.ids import derived_id
from autotune_platform.judging.human.models import Review
from autotune_platform.judging.human.records import review_in
from autotune_platform.reviews.links import ReviewLinks
from autotune_platform.runtime.parts import part
from autotune_platform.storage.changes import Change
from autotune_platform.webhooks.models import Event
from autotune_platform.webhooks.publisher import EventPublisher, event_body

if TYPE_CHECKING:
    from mypy_boto3_sns import SNSClient


@part
class ReviewProjection:
    """Announces reviews that are requested.

    The topic is for whoever subscribed in the account that the platform runs in.
    """

    links: ReviewLinks
    publisher: EventPublisher
    topic_arn: str
    sns: "SNSClient"

    def follow(self, requests: Sequence[Change]) -> None:
        """Publish the reviews that changes of the table request.

        Raises:
            UnavailableError: the queue refused a message; follow the same changes again.
        """
        reviews = (review_in(request) for request in requests)
        events = [_review_requested(review, self.links.of_review(review)) for review in reviews]
        self.publisher.publish(events)
        for event in events:
            self._send(event)

    def _send(self, event: Event) -> None:
        """Send to the topic what webhooks are sent; subscribers filter by organisation and type."""
        attributes = {
            "organizationId": event.organization_id,
            "eventType": event.type,
            "eventId": event.id,
        }
        self.sns.publish(
            TopicArn=self.topic_arn,
            Message=event_body(event),
            MessageAttributes={
                name: {"DataType": "String", "StringValue": value}
                for name, value in attributes.items()
            },
        )


def _review_requested(review: Review, link: str) -> Event:
    """Return the event that asks for a review; it holds nothing of what is to be judged."""
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
