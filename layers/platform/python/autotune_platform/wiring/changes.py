"""Parts that follow the table's changes beside verdicts."""

from functools import cached_property

from autotune_platform.completions.forgetting import REMOVED_CONTENT, ContentForgetting
from autotune_platform.judging.human.records import REQUESTED_REVIEWS
from autotune_platform.reviews.projection import ReviewProjection
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment.reviews import ChangesEnvironment
from autotune_platform.storage.changes import Route, Router
from autotune_platform.wiring.completions import ErasureParts
from autotune_platform.wiring.publishing import PublisherParts
from autotune_platform.wiring.reviews import ReviewLinkParts


class ChangesParts(ReviewLinkParts, ErasureParts, PublisherParts):
    """What follows the table's changes beside verdicts."""

    environment: ChangesEnvironment

    @cached_property
    def review_projection(self) -> ReviewProjection:
        return ReviewProjection(
            links=self.review_links,
            publisher=self.publisher,
            topic_arn=self.environment.review_topic_arn,
            sns=clients.sns(),
        )

    @cached_property
    def content_forgetting(self) -> ContentForgetting:
        return ContentForgetting(
            bucket=self.environment.content_bucket,
            s3=clients.s3(),
            erasers=self.erasers,
        )

    @cached_property
    def change_router(self) -> Router:
        return Router(
            Route(REQUESTED_REVIEWS, lambda: self.review_projection),
            Route(REMOVED_CONTENT, lambda: self.content_forgetting),
        )
