"""Human review: its API. The page that people work at is the console's to serve."""

from constructs import Construct

from infra.constructs.content_bucket import OF_COMPLETIONS
from infra.constructs.signed_api import resource_paths
from infra.stacks.domain_stack import API_TIMEOUT, DomainStack, Shared
from infra.stacks.http import HttpStack
from infra.stacks.scoring import ScoringStack
from infra.tables import BY_COLLECTION_INDEX, REVIEWS_BY_STATE_INDEX

ASSIGNMENTS = "org_*#reviews#*"
LINKS = "rvl_*"


class ReviewsStack(DomainStack):
    """Has people review by API and by page; their answers wake the runs that wait."""

    def __init__(
        self, scope: Construct, *, shared: Shared, http: HttpStack, scoring: ScoringStack
    ) -> None:
        super().__init__(scope, domain="reviews", shared=shared, holds="their API and page")
        data = shared.data
        reviews = self.create_api(
            "ReviewsApi", environment={**self.content_environment, **http.url_environment}
        )
        data.completions.grant_read(reviews.function, "BatchGetItem", "GetItem", "Query")
        data.completions.grant_write(reviews.function, "BatchWriteItem", "PutItem", "UpdateItem")
        data.completions.grant_write(reviews.function, "DeleteItem", keys=ASSIGNMENTS)
        data.completions.grant_query_index(reviews.function, index_name=REVIEWS_BY_STATE_INDEX)
        data.content.grant_read(reviews.function, names=OF_COMPLETIONS)
        data.registry.grant_write(reviews.function, "PutItem", "UpdateItem", keys=LINKS)
        data.registry.grant_query_index(reviews.function, index_name=BY_COLLECTION_INDEX)
        data.secrets_keys.grant_derive(reviews, "review-link")
        scoring.workflow.grant_wake(reviews)
        http.api.route(reviews, paths=[*resource_paths("reviews"), *resource_paths("review-links")])

        # The console's function would do. But no update moves a route to another stack.
        page = self.create(
            "ReviewPage",
            folder="console",
            module="serve_pages",
            description="Serves the review page, which holds no data",
            timeout=API_TIMEOUT,
            reads_environment=False,
        )
        http.api.route(page, paths=["/review", "/review/{proxy+}"], keyless=True)
