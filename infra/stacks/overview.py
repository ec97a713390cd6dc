"""What happened over time: the overview of an organisation, and figures of its tasks."""

from aws_cdk import aws_apigatewayv2 as apigateway
from constructs import Construct

from infra.stacks.completions import OPEN_COUNTS
from infra.stacks.domain_stack import GRADERS, WINDOWS, DomainStack, Shared
from infra.stacks.http import HttpStack
from infra.tables import BY_COLLECTION_INDEX, OPEN_BATCHES_INDEX

OVERVIEW = "/api/v1/overview"
TASK_STATS = "/api/v1/tasks/{taskId}/stats"
BATCHES = "bat_*"
MONEY = "money#*"


class OverviewStack(DomainStack):
    """Holds the function that reads what many domains count, and writes none of it."""

    def __init__(self, scope: Construct, *, shared: Shared, http: HttpStack) -> None:
        super().__init__(scope, domain="overview", shared=shared, holds="what happened over time")
        data = shared.data
        overview = self.create_api(
            "OverviewApi",
            environment={
                **self.content_environment,
                "BUDGETS_TABLE": data.budgets.table.table_name,
            },
        )
        for keys in (OPEN_COUNTS, WINDOWS):
            data.completions.grant_read(overview.function, "Query", keys=keys)
        data.completions.grant_read(overview.function, "BatchGetItem", keys=BATCHES)
        data.completions.grant_query_index(overview.function, index_name=OPEN_BATCHES_INDEX)
        data.registry.grant_query_index(overview.function, index_name=BY_COLLECTION_INDEX)
        data.budgets.grant_read(overview.function, "BatchGetItem", keys=GRADERS)
        data.budgets.grant_read(overview.function, "GetItem", keys=MONEY)
        for path in (OVERVIEW, TASK_STATS):
            http.api.route(overview, paths=[path], method=apigateway.HttpMethod.GET)
