"""Parts that show reviews to people, and publish that there are some."""

from functools import cached_property

from autotune_platform.judging.human.records import Assignments
from autotune_platform.reviews.availability import ReviewAvailability
from autotune_platform.reviews.link_repository import LinkRepository
from autotune_platform.reviews.link_service import ReviewLinkService
from autotune_platform.reviews.links import ReviewCallers, ReviewLinks
from autotune_platform.reviews.service import ReviewService
from autotune_platform.runtime.environment import ReviewEnvironment
from autotune_platform.wiring.access import ApiParts, RegistryParts
from autotune_platform.wiring.waits import WaitParts


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
    def made_links(self) -> LinkRepository:
        return LinkRepository(self.registry_table)

    @cached_property
    def review_callers(self) -> ReviewCallers:
        return ReviewCallers(keys=self.access, links=self.review_links, made=self.made_links)

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
            verdicts=self.verdicts,
            resolver=self.resolver,
            waits=self.run_waits,
        )

    @cached_property
    def link_service(self) -> ReviewLinkService:
        return ReviewLinkService(
            reviews=self.reviews, links=self.review_links, repository=self.made_links
        )
