"""Runs, as callers see them; what executes them is in the stack of scoring."""

from aws_cdk import aws_apigatewayv2 as apigateway
from constructs import Construct

from infra.constructs.signed_api import resource_paths
from infra.stacks.domain_stack import REQUESTS, DomainStack, Shared
from infra.stacks.http import HttpStack
from infra.tables import RUNS_BY_STATE_INDEX

EXPLANATIONS = (
    "/api/v1/completions/{completionId}/explanation",
    "/api/v1/completions/{completionId}/timeline",
    "/api/v1/batches/{batchId}/explanation",
)


class RunsStack(DomainStack):
    """Holds the function of runs."""

    def __init__(self, scope: Construct, *, shared: Shared, http: HttpStack) -> None:
        super().__init__(scope, domain="runs", shared=shared, holds="reading and canceling runs")
        runs = self.create_api(
            "RunsApi",
            environment={
                **self.content_environment,
                "LEDGER_TABLE": shared.data.ledger.table.table_name,
            },
        )
        completions = shared.data.completions
        completions.grant_read(runs.function, "BatchGetItem", "GetItem", "Query")
        completions.grant_write(runs.function, "BatchWriteItem", "PutItem", "UpdateItem")
        completions.grant_query_index(runs.function, index_name=RUNS_BY_STATE_INDEX)
        shared.data.ledger.grant_read(runs.function, "BatchGetItem", keys=REQUESTS)
        http.api.route(runs, paths=resource_paths("runs"))
        for path in EXPLANATIONS:
            http.api.route(runs, paths=[path], method=apigateway.HttpMethod.GET)
