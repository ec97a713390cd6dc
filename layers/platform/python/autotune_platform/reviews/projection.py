"""What follows from the request of a review: webhooks and the topic tell of it.

Reviews come from the table's stream, at least once. The event's id and its link follow from the
review, so that telling again tells of the same event; the topic's subscribers may hear of it twice,
with the same ``eventId``.
"""

from collections.abc import Sequence

from autotune_platform.judging.human.records import review_in
from autotune_platform.reviews.events import review_requested
from autotune_platform.reviews.links import ReviewLinks
from autotune_platform.reviews.topic import ReviewTopic
from autotune_platform.runtime.parts import part
from autotune_platform.storage.changes import Change
from autotune_platform.webhooks.publisher import EventPublisher


@part
class ReviewProjection:
    """Tells of reviews that are asked for."""

    links: ReviewLinks
    publisher: EventPublisher
    topic: ReviewTopic

    def follow(self, requests: Sequence[Change]) -> None:
        """Publish the reviews that changes of the table request.

        Raises:
            UnavailableError: the queue refused a message; follow the same changes again.
        """
        reviews = (review_in(request) for request in requests)
        events = [review_requested(review, link=self.links.of_review(review)) for review in reviews]
        self.publisher.publish(events)
        for event in events:
            self.topic.publish(event)
