"""Parts that show reviews to people, and publish that there are some."""

from functools import cached_property

from autotune_platform.completions.forgetting import ContentForgetting
from autotune_platform.completions.removed_content import REMOVED_CONTENT, RemovedContent
from autotune_platform.judging.human.records import REQUESTED_REVIEWS, Assignments
from autotune_platform.reviews.availability import ReviewAvailability
from autotune_platform.reviews.links import ReviewCallers, ReviewLinks
from autotune_platform.reviews.projection import ReviewProjection
from autotune_platform.reviews.service import ReviewService
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment import ChangesEnvironment, ReviewEnvironment
from autotune_platform.storage.changes import Route, Router
from autotune_platform.wiring.completions import VerdictParts
from autotune_platform.wiring.registry import ApiParts, RegistryParts
from autotune_platform.wiring.scoring import WaitParts
from autotune_platform.wiring.webhooks import PublisherParts


class ReviewLinkParts(RegistryParts):
    """What makes and reads links to reviews."""

    environment: ReviewEnvironment

    @cached_property
    def review_links(self) -> ReviewLinks:
        return ReviewLinks(secrets=self.secrets, base_url=self.environment.api_url)


class ReviewApiParts(ApiParts, WaitParts, ReviewLinkParts):
    """What reviewers use."""

    environment: ReviewEnvironment

    @cached_property
    def review_callers(self) -> ReviewCallers:
        return ReviewCallers(keys=self.access, links=self.review_links)

    @cached_property
    def reviews(self) -> ReviewService:
        assignments = Assignments(self.completions_table)
        return ReviewService(
            records=self.review_records,
            assignments=assignments,
            availability=ReviewAvailability(
                records=self.review_records, assignments=assignments, verdicts=self.verdicts
            ),
            batches=self.open_batches,
            completions=self.completions,
            resolver=self.resolver,
            waits=self.run_waits,
        )


class ChangesParts(ReviewLinkParts, VerdictParts, PublisherParts):
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
        content = RemovedContent(bucket=self.environment.content_bucket, s3=clients.s3())
        return ContentForgetting(content=content)

    @cached_property
    def change_router(self) -> Router:
        return Router(
            Route(REQUESTED_REVIEWS, lambda: self.review_projection),
            Route(REMOVED_CONTENT, lambda: self.content_forgetting),
        )
