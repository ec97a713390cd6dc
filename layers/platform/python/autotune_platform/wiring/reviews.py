"""Parts that show reviews to people, and publish that there are some."""

from functools import cached_property

from autotune_platform.judging.human.figures import ReviewFigures
from autotune_platform.judging.human.records import Assignments, Declined
from autotune_platform.reviews.agreement import ReviewAgreements
from autotune_platform.reviews.answering import ReviewAnswering
from autotune_platform.reviews.availability import ReviewAvailability
from autotune_platform.reviews.changes import ReviewChanges
from autotune_platform.reviews.link_repository import LinkRepository
from autotune_platform.reviews.link_service import ReviewLinkService
from autotune_platform.reviews.links import ReviewCallers, ReviewLinks
from autotune_platform.reviews.service import ReviewService
from autotune_platform.runtime.environment.reviews import ReviewEnvironment
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
    def assignments(self) -> Assignments:
        return Assignments(self.completions_table)

    @cached_property
    def declined(self) -> Declined:
        return Declined(self.completions_table)

    @cached_property
    def review_figures(self) -> ReviewFigures:
        return ReviewFigures(self.completions_table)

    @cached_property
    def availability(self) -> ReviewAvailability:
        return ReviewAvailability(
            records=self.review_records,
            assignments=self.assignments,
            declined=self.declined,
            completions=self.completions,
            verdicts=self.verdicts,
        )

    @cached_property
    def review_changes(self) -> ReviewChanges:
        return ReviewChanges(records=self.review_records, availability=self.availability)

    @cached_property
    def reviews(self) -> ReviewService:
        return ReviewService(
            records=self.review_records,
            assignments=self.assignments,
            availability=self.availability,
            changes=self.review_changes,
            completions=self.completions,
            panels=self.panels,
            graders=self.graders,
        )

    @cached_property
    def review_answering(self) -> ReviewAnswering:
        return ReviewAnswering(
            records=self.review_records,
            assignments=self.assignments,
            availability=self.availability,
            declined=self.declined,
            changes=self.review_changes,
            figures=self.review_figures,
            batches=self.open_batches,
            completions=self.completions,
            verdicts=self.verdicts,
            panels=self.panels,
            resolver=self.resolver,
            waits=self.run_waits,
        )

    @cached_property
    def agreements(self) -> ReviewAgreements:
        return ReviewAgreements(figures=self.review_figures)

    @cached_property
    def link_service(self) -> ReviewLinkService:
        return ReviewLinkService(
            reviews=self.reviews, links=self.review_links, repository=self.made_links
        )
