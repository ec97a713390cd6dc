"""Batches of requests to language models, and money: what they cost, may cost, and would cost.

Its own function, because it needs no texts, and is the one that sets budgets.
"""

from datetime import date, timedelta
from functools import cache
from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Query

from autotune.protocol.llm_batches import (
    EstimateLlmRequests,
    LlmBatchList,
    LlmBatchResponse,
    LlmBatchRows,
    LlmBatchStatus,
    LlmBudget,
    LlmBudgetLimits,
    LlmCostGroup,
    LlmCosts,
    LlmEstimate,
    LlmTraceField,
)
from autotune.protocol.llm_filters import LlmBatchFilter
from autotune.protocol.types import Moment
from autotune_platform.http.api import Api
from autotune_platform.http.parameters import NextToken, PageSize
from autotune_platform.runtime.environment.ledger import LedgerEnvironment
from autotune_platform.wiring.ledger_api import LlmBatchApiParts


@cache
def parts() -> LlmBatchApiParts:
    """Return what this process is put together from."""
    return LlmBatchApiParts(LedgerEnvironment.parse())


app = Api(parts)


@app.get("/api/v1/llm-batches", tags=["language models"])
def list_llm_batches(
    *,
    needs_operator: Annotated[bool, Query(alias="needsOperator")] = False,
    differs: Annotated[bool, Query()] = False,
    status: Annotated[LlmBatchStatus | None, Query()] = None,
    connection_id: Annotated[str | None, Query(alias="connectionId", max_length=64)] = None,
    model: Annotated[str | None, Query(max_length=200)] = None,
    created_after: Annotated[Moment | None, Query(alias="createdAfter")] = None,
    created_before: Annotated[Moment | None, Query(alias="createdBefore")] = None,
    limit: PageSize = 50,
    next_token: NextToken = None,
) -> LlmBatchList:
    """List the organisation's batches, the youngest first.

    ``needsOperator`` lists only those whose creation at the provider is unclear, because several
    jobs may be it or for over an hour, and those whose job the provider has refused to show for
    over six hours. ``differs`` lists only those that were charged otherwise than their provider
    reports, beyond what is explained, or that have requests above their bound. With a filter other
    than times one page looks at some 2,000 batches, for about five seconds: it may be short, even
    empty, while ``nextToken`` says that there is more.
    """
    app.require_known_parameters()
    # Values that no batch can have match none, rather than being refused.
    wanted = LlmBatchFilter.model_construct(
        needs_operator=needs_operator,
        differs=differs,
        status=status,
        connection_id=connection_id,
        model=model,
        created_after=created_after,
        created_before=created_before,
    )
    found, token = parts().batches.page(app.caller, wanted, limit=limit, next_token=next_token)
    return LlmBatchList(batches=found, next_token=token)


@app.get("/api/v1/llm-batches/<llm_batch_id>", tags=["language models"])
def read_llm_batch(llm_batch_id: str) -> LlmBatchResponse:
    """Return a batch; its counts are those of the last step, until it has ended."""
    return LlmBatchResponse(batch=parts().batches.get(app.caller, llm_batch_id))


@app.get("/api/v1/llm-batches/<llm_batch_id>/rows", tags=["language models"])
def list_batch_rows(
    llm_batch_id: str, limit: PageSize = 50, next_token: NextToken = None
) -> LlmBatchRows:
    """List the requests that a batch was made for, in its order."""
    app.require_known_parameters()
    found, token = parts().batches.page_of_rows(
        app.caller, llm_batch_id, limit=limit, next_token=next_token
    )
    return LlmBatchRows(requests=found, next_token=token)


@app.post("/api/v1/llm-batches/<llm_batch_id>/cancel", tags=["language models"])
def cancel_llm_batch(llm_batch_id: str) -> LlmBatchResponse:
    """Cancel what a batch has not asked yet; what was asked is paid, and its answer is kept."""
    return LlmBatchResponse(batch=parts().batches.cancel(app.caller, llm_batch_id))


@app.get("/api/v1/llm-costs", tags=["language models"])
def list_costs(
    group_by: Annotated[LlmCostGroup, Query(alias="groupBy")] = "model",
    trace_field: Annotated[LlmTraceField | None, Query(alias="traceField")] = None,
    first: Annotated[date | None, Query(alias="from")] = None,
    last: Annotated[date | None, Query(alias="to")] = None,
) -> LlmCosts:
    """Return what was spent by day and model, purpose or connection; of 30 days by default.

    ``groupBy=day`` has one sum a day. ``groupBy=trace`` has one for each ``experimentId`` or
    ``rubricId``, as ``traceField`` says. A batch adds to the sums of at least 11 ids, and mostly of
    some 90: the dearest; what is left is in the group ``all others``. Requests without that id are
    in the group ``no id``, so that the groups of a day are the whole day.

    A batch counts on the day on which it ended, in UTC.
    """
    app.require_known_parameters()
    today = parts().clock.now().date()
    until = last or today
    since = first or until - timedelta(days=29)
    found = parts().spending.spent(
        app.caller, group_by=group_by, trace_field=trace_field, first=since, last=until
    )
    return LlmCosts(group_by=group_by, trace_field=trace_field, costs=found)


@app.post("/api/v1/llm-estimates", tags=["language models"])
def estimate_requests(body: EstimateLlmRequests) -> LlmEstimate:
    """Return what requests cost at most, and whether the budget has room; nothing is stored."""
    return parts().spending.estimate(app.caller, body)


@app.get("/api/v1/llm-budget", tags=["language models"])
def read_budget() -> LlmBudget:
    """Return the budget for language models, and what its present periods have used."""
    return parts().spending.budget(app.caller)


@app.put("/api/v1/llm-budget", tags=["language models"])
def set_budget(body: LlmBudgetLimits) -> LlmBudget:
    """Replace the limits of the budget; what is left out has none.

    Nothing is sent that a limit has no room for: requests wait in their queue for the next period.
    """
    return parts().spending.set_budget(app.caller, body)


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one HTTP request."""
    return app.handle(event, context)
