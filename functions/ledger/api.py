"""Requests to language models, their batches, and what they cost."""

from datetime import date, timedelta
from functools import cache
from typing import Annotated, Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Query

from autotune.protocol.limits import MAX_WAIT_SECONDS
from autotune.protocol.llm_batches import (
    EstimateLlmRequests,
    LlmBatchList,
    LlmBatchResponse,
    LlmBatchRows,
    LlmBudget,
    LlmBudgetLimits,
    LlmCostGroup,
    LlmCosts,
    LlmEstimate,
    LlmTraceField,
)
from autotune.protocol.llm_connections import LlmProvider
from autotune.protocol.llm_parses import (
    LlmParseResponse,
    LlmParses,
    ParseLlmRequest,
    ParseLlmRequests,
)
from autotune.protocol.llm_requests import (
    ChangedLlmRequests,
    ChangeLlmRequests,
    EnqueuedLlmRequests,
    EnqueueLlmRequest,
    EnqueueLlmRequests,
    LlmErrorCode,
    LlmRequestFilter,
    LlmRequestList,
    LlmRequestResponse,
    LlmRequestSummaryResponse,
    LlmStatus,
)
from autotune.protocol.types import Moment
from autotune_platform.http.api import Api
from autotune_platform.http.parameters import IdempotencyKey, NextToken, PageSize
from autotune_platform.runtime.environment import LedgerApiEnvironment
from autotune_platform.wiring.ledger_api import LedgerApiParts

Wait = Annotated[int, Query(ge=0, le=MAX_WAIT_SECONDS)]


@cache
def parts() -> LedgerApiParts:
    """Return what this process is put together from."""
    return LedgerApiParts(LedgerApiEnvironment.parse())


app = Api(parts)


@app.post("/api/v1/llm-requests", status_code=202, tags=["language models"])
def enqueue_request(
    body: EnqueueLlmRequest, idempotency_key: IdempotencyKey = None
) -> Response[EnqueuedLlmRequests]:
    """Enqueue one call of a language model; 202 means that it is durable.

    It is sent with others to the same connection and model, once there are ``minRows`` of them or
    the first has waited ``maxWaitSeconds``.
    """
    return _enqueued([body], idempotency_key, alone=True)


@app.post("/api/v1/llm-requests/batch", status_code=202, tags=["language models"])
def enqueue_requests(
    body: EnqueueLlmRequests, idempotency_key: IdempotencyKey = None
) -> Response[EnqueuedLlmRequests]:
    """Enqueue up to 1,000 calls of language models, each for itself; one that is wrong stops all.

    Where the answer is an error of ours, some may be enqueued: the same request with the same
    ``Idempotency-Key`` enqueues the others, and none twice.
    """
    return _enqueued(body.requests, idempotency_key, alone=False)


@app.get("/api/v1/llm-requests", tags=["language models"])
def list_requests(
    *,
    status: Annotated[LlmStatus | None, Query()] = None,
    purpose: Annotated[str | None, Query(max_length=64)] = None,
    provider: Annotated[LlmProvider | None, Query()] = None,
    model: Annotated[str | None, Query(max_length=200)] = None,
    connection_id: Annotated[str | None, Query(alias="connectionId", max_length=64)] = None,
    batch_id: Annotated[str | None, Query(alias="batchId", max_length=64)] = None,
    import_id: Annotated[str | None, Query(alias="importId", max_length=64)] = None,
    experiment_id: Annotated[str | None, Query(alias="experimentId", max_length=128)] = None,
    rubric_id: Annotated[str | None, Query(alias="rubricId", max_length=128)] = None,
    score_id: Annotated[str | None, Query(alias="scoreId", max_length=128)] = None,
    evidence_id: Annotated[str | None, Query(alias="evidenceId", max_length=128)] = None,
    sample_id: Annotated[str | None, Query(alias="sampleId", max_length=128)] = None,
    error_code: Annotated[LlmErrorCode | None, Query(alias="errorCode")] = None,
    created_after: Annotated[Moment | None, Query(alias="createdAfter")] = None,
    created_before: Annotated[Moment | None, Query(alias="createdBefore")] = None,
    limit: PageSize = 50,
    next_token: NextToken = None,
) -> LlmRequestList:
    """List the organisation's requests without their texts, the youngest first.

    With a filter other than ``status`` and times a page may be short, even empty, while
    ``nextToken`` says that there is more. A request that goes from status to status while pages
    are read may be listed twice, or not at all.
    """
    app.require_known_parameters()
    # Values that no request can have match none, rather than being refused.
    wanted = LlmRequestFilter.model_construct(
        status=status,
        purpose=purpose,
        provider=provider,
        model=model,
        connection_id=connection_id,
        batch_id=batch_id,
        import_id=import_id,
        experiment_id=experiment_id,
        rubric_id=rubric_id,
        score_id=score_id,
        evidence_id=evidence_id,
        sample_id=sample_id,
        error_code=error_code,
        created_after=created_after,
        created_before=created_before,
    )
    found, token = parts().ledger.list_requests(
        app.caller, wanted, limit=limit, next_token=next_token
    )
    return LlmRequestList(requests=found, next_token=token)


@app.post("/api/v1/llm-requests/cancel", tags=["language models"])
def cancel_requests(body: ChangeLlmRequests) -> ChangedLlmRequests:
    """Cancel requests by filter, up to 100 at a time; send ``nextToken`` along until there is none.

    Each is canceled as by itself. The same page again changes nothing more.
    """
    return parts().changing.cancel(app.caller, body.filter, next_token=body.next_token)


@app.post("/api/v1/llm-requests/retry", status_code=202, tags=["language models"])
def retry_requests(body: ChangeLlmRequests) -> ChangedLlmRequests:
    """Retry requests by filter, up to 100 at a time; send ``nextToken`` along until there is none.

    Without ``status`` those that ended as ``error`` or ``canceled``. Each becomes a request of its
    own; the same page again returns the same ids.
    """
    return parts().changing.retry(app.caller, body.filter, next_token=body.next_token)


@app.post("/api/v1/llm-requests/parse", tags=["language models"])
def parse_requests(body: ParseLlmRequests) -> ChangedLlmRequests:
    """Parse answers by filter again, up to 100 at a time; send ``nextToken`` along until none is.

    Each is parsed as by itself; ``requestIds`` are those whose latest parse is this one then. The
    same page again changes nothing.
    """
    return parts().changing.parse(app.caller, body.filter, body.verdict, next_token=body.next_token)


@app.get("/api/v1/llm-requests/<llm_request_id>", tags=["language models"])
def read_request(llm_request_id: str, wait: Wait = 0) -> LlmRequestResponse:
    """Return a request with its texts, waiting up to ``wait`` seconds until it has ended."""
    with parts().waiting.share(app.caller, wait) as seconds:
        found = parts().ledger.get(app.caller, llm_request_id, wait_seconds=seconds)
    return LlmRequestResponse(request=found)


@app.post("/api/v1/llm-requests/<llm_request_id>/cancel", tags=["language models"])
def cancel_request(llm_request_id: str) -> LlmRequestSummaryResponse:
    """Cancel a request: at once while it is queued, later unless it was asked before.

    What was asked is paid, and its answer is kept. A request that has ended stays as it is.
    """
    return LlmRequestSummaryResponse(request=parts().ledger.cancel(app.caller, llm_request_id))


@app.post("/api/v1/llm-requests/<llm_request_id>/retry", status_code=202, tags=["language models"])
def retry_request(llm_request_id: str) -> EnqueuedLlmRequests:
    """Enqueue a request that has ended once more, as one of its own; doing so again returns it."""
    retried = parts().ledger.retry(app.caller, llm_request_id)
    app.made(llm_request_id=retried)
    return EnqueuedLlmRequests(request_ids=[retried])


@app.post("/api/v1/llm-requests/<llm_request_id>/parse", tags=["language models"])
def parse_request(llm_request_id: str, body: ParseLlmRequest) -> LlmParseResponse:
    """Parse the answer of a completed request again, in another format if one is given.

    No model is asked, and it costs nothing. It becomes the request's latest parse; those before
    stay, up to 20. The same format and parser as of the latest parse make no new one.
    """
    parsed = parts().parsing_again.parse(app.caller, llm_request_id, body.verdict)
    return LlmParseResponse(parse=parsed)


@app.get("/api/v1/llm-requests/<llm_request_id>/parses", tags=["language models"])
def list_parses(llm_request_id: str) -> LlmParses:
    """List how a request's answer was parsed, the first time first."""
    return LlmParses(parses=parts().parsing_again.parses(app.caller, llm_request_id))


@app.delete(
    "/api/v1/llm-requests/<llm_request_id>/content", status_code=204, tags=["language models"]
)
def delete_content(llm_request_id: str) -> None:
    """Delete what a request asked and was answered; what it cost stays."""
    parts().ledger.erase(app.caller, llm_request_id)


@app.get("/api/v1/llm-batches", tags=["language models"])
def list_batches(
    needs_operator: Annotated[bool, Query(alias="needsOperator")] = False,
    differs: Annotated[bool, Query()] = False,
    limit: PageSize = 50,
    next_token: NextToken = None,
) -> LlmBatchList:
    """List the organisation's batches, the youngest first.

    ``needsOperator`` lists only those whose creation at the provider is unclear, because several
    jobs may be it or for over an hour, and those whose job the provider has refused to show for
    over six hours. ``differs`` lists only those that were charged otherwise than their provider
    reports, beyond what is explained, or that have requests above their bound. A page may be short
    then: ``nextToken`` leads on where there is more.
    """
    found, token = parts().ledger.list_batches(
        app.caller,
        unresolved=needs_operator,
        differs=differs,
        limit=limit,
        next_token=next_token,
    )
    return LlmBatchList(batches=found, next_token=token)


@app.get("/api/v1/llm-batches/<llm_batch_id>", tags=["language models"])
def read_llm_batch(llm_batch_id: str) -> LlmBatchResponse:
    """Return a batch; its counts are those of the last step, until it has ended."""
    return LlmBatchResponse(batch=parts().ledger.batch(app.caller, llm_batch_id))


@app.get("/api/v1/llm-batches/<llm_batch_id>/rows", tags=["language models"])
def list_batch_rows(
    llm_batch_id: str, limit: PageSize = 50, next_token: NextToken = None
) -> LlmBatchRows:
    """List the requests that a batch was made for, in its order."""
    found, token = parts().ledger.batch_rows(
        app.caller, llm_batch_id, limit=limit, next_token=next_token
    )
    return LlmBatchRows(requests=found, next_token=token)


@app.post("/api/v1/llm-batches/<llm_batch_id>/cancel", tags=["language models"])
def cancel_llm_batch(llm_batch_id: str) -> LlmBatchResponse:
    """Cancel what a batch has not asked yet; what was asked is paid, and its answer is kept."""
    return LlmBatchResponse(batch=parts().ledger.cancel_batch(app.caller, llm_batch_id))


@app.get("/api/v1/llm-costs", tags=["language models"])
def list_costs(
    group_by: Annotated[LlmCostGroup, Query(alias="groupBy")] = "model",
    trace_field: Annotated[LlmTraceField | None, Query(alias="traceField")] = None,
    first: Annotated[date | None, Query(alias="from")] = None,
    last: Annotated[date | None, Query(alias="to")] = None,
) -> LlmCosts:
    """Return what was spent by day and model, purpose or connection; of 30 days by default.

    ``groupBy=day`` has one sum a day. ``groupBy=trace`` has one for each ``experimentId`` or
    ``rubricId``, as ``traceField`` says, of requests that have one. A batch adds to the sums of at
    least 11 ids, and mostly of some 90: the dearest; what is left is in the group ``all others``.

    A batch counts on the day on which it ended, in UTC.
    """
    today = parts().clock.now().date()
    until = last or today
    since = first or until - timedelta(days=29)
    found = parts().ledger.spent(
        app.caller, group_by=group_by, trace_field=trace_field, first=since, last=until
    )
    return LlmCosts(group_by=group_by, trace_field=trace_field, costs=found)


@app.post("/api/v1/llm-estimates", tags=["language models"])
def estimate_requests(body: EstimateLlmRequests) -> LlmEstimate:
    """Return what requests cost at most, and whether the budget has room; nothing is stored."""
    return parts().ledger.estimate(app.caller, body)


@app.get("/api/v1/llm-budget", tags=["language models"])
def read_budget() -> LlmBudget:
    """Return the budget for language models, and what its present periods have used."""
    return parts().ledger.budget(app.caller)


@app.put("/api/v1/llm-budget", tags=["language models"])
def set_budget(body: LlmBudgetLimits) -> LlmBudget:
    """Replace the limits of the budget; what is left out has none.

    Nothing is sent that a limit has no room for: requests wait in their queue for the next period.
    """
    return parts().ledger.set_budget(app.caller, body)


def _enqueued(
    requests: list[EnqueueLlmRequest], idempotency_key: str | None, *, alone: bool
) -> Response[EnqueuedLlmRequests]:
    ids, replayed = parts().enqueuing.enqueue(
        app.caller, requests, idempotency_key=idempotency_key, alone=alone
    )
    app.made(llm_request_id=ids[0])
    headers: dict[str, str | list[str]] = {"Idempotent-Replayed": "true"} if replayed else {}
    return Response(
        status_code=202,
        content_type="application/json",
        body=EnqueuedLlmRequests(request_ids=ids),
        headers=headers,
    )


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one HTTP request."""
    return app.handle(event, context)
