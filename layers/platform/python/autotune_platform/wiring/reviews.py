"""Parts that show reviews to people, and tell of them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from autotune_platform.runtime import clients
from autotune_platform.runtime.environment import ChangesEnvironment, ReviewEnvironment
from autotune_platform.wiring.completions import ContentParts
from autotune_platform.wiring.outbound import WebhookParts

if TYPE_CHECKING:
    from autotune_platform.reviews.callers import ReviewCallers
    from autotune_platform.reviews.links import ReviewLinks
    from autotune_platform.reviews.projection import ReviewProjection
    from autotune_platform.reviews.service import ReviewService
    from autotune_platform.storage.changes import Router


class ReviewParts(ContentParts):
    """What reviewers use."""

    environment: ReviewEnvironment

    @cached_property
    def review_links(self) -> ReviewLinks:
        from autotune_platform.reviews.links import ReviewLinks

        return ReviewLinks(secrets=self.secrets, base_url=self.environment.api_url)

    @cached_property
    def review_callers(self) -> ReviewCallers:
        from autotune_platform.reviews.callers import ReviewCallers

        return ReviewCallers(keys=self.access, links=self.review_links)

    @cached_property
    def reviews(self) -> ReviewService:
        from autotune_platform.judging.human.records import Assignments
        from autotune_platform.reviews.service import ReviewService

        return ReviewService(
            records=self.review_records,
            assignments=Assignments(self.completions_table),
            batches=self.open_batches,
            completions=self.completions,
            verdicts=self.verdicts,
            resolver=self.resolver,
            waits=self.run_waits,
        )


class ChangesParts(ReviewParts, WebhookParts):
    """What follows the table's changes beside verdicts."""

    environment: ChangesEnvironment

    @cached_property
    def review_projection(self) -> ReviewProjection:
        from autotune_platform.reviews.projection import ReviewProjection
        from autotune_platform.reviews.topic import ReviewTopic

        return ReviewProjection(
            links=self.review_links,
            publisher=self.publisher,
            topic=ReviewTopic(arn=self.environment.review_topic_arn, sns=clients.sns()),
        )

    @cached_property
    def change_router(self) -> Router:
        from autotune_platform.completions.removed_content import REMOVED_CONTENT
        from autotune_platform.judging.human.records import REQUESTED_REVIEWS
        from autotune_platform.storage.changes import Route, Router

        return Router(
            Route(REQUESTED_REVIEWS, lambda: self.review_projection),
            Route(REMOVED_CONTENT, lambda: self.content_forgetting),
        )
