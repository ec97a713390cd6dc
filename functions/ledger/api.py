"""Requests to language models, their batches, and what they cost."""

from functools import cache
from typing import Annotated, Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Query

from autotune.protocol.limits import MAX_LLM_CUSTOM_ID_CHARACTERS, MAX_WAIT_SECONDS
from autotune.protocol.llm_connections import LlmProvider
from autotune.protocol.llm_filters import ChangedLlmRequests, ChangeLlmRequests, LlmRequestFilter
from autotune.protocol.llm_parses import (
    LlmParseResponse,
    LlmParses,
    ParseLlmRequest,
    ParseLlmRequests,
)
from autotune.protocol.llm_requests import (
    EnqueuedLlmRequests,
    EnqueueLlmRequest,
    EnqueueLlmRequests,
    LlmErrorCode,
    LlmRequestList,
    LlmRequestResponse,
    LlmRequestSummaryResponse,
    LlmStatus,
)
from autotune.protocol.types import Moment
from autotune_platform.http.api import Api
from autotune_platform.http.parameters import IdempotencyKey, NextToken, PageSize
from autotune_platform.runtime.environment.ledger import LedgerApiEnvironment
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
    completion_id: Annotated[str | None, Query(alias="completionId", max_length=128)] = None,
    deck_id: Annotated[str | None, Query(alias="deckId", max_length=128)] = None,
    custom_id: Annotated[
        str | None, Query(alias="customId", max_length=MAX_LLM_CUSTOM_ID_CHARACTERS)
    ] = None,
    error_code: Annotated[LlmErrorCode | None, Query(alias="errorCode")] = None,
    created_after: Annotated[Moment | None, Query(alias="createdAfter")] = None,
    created_before: Annotated[Moment | None, Query(alias="createdBefore")] = None,
    limit: PageSize = 50,
    next_token: NextToken = None,
) -> LlmRequestList:
    """List the organisation's requests without their texts, the youngest first.

    Those of a batch come in its order, those of an import in that of its lines, each with what it
    was retried or asked again as behind it. With a filter other than ``status`` and times one page
    looks at some 2,000 requests, for about five seconds: it may be short, even empty, while
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
        completion_id=completion_id,
        deck_id=deck_id,
        custom_id=custom_id,
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


@app.post("/api/v1/llm-requests/delete-content", tags=["language models"])
def delete_contents(body: ChangeLlmRequests) -> ChangedLlmRequests:
    """Delete texts by filter, of up to 100 requests at a time; send ``nextToken`` along.

    Of requests that match and have ended, what they asked and were answered is deleted; what they
    cost stays. The same page again changes nothing and returns the same ids.
    """
    return parts().changing.erase(app.caller, body.filter, next_token=body.next_token)


@app.get("/api/v1/llm-requests/<llm_request_id>", tags=["language models"])
def read_request(llm_request_id: str, wait: Wait = 0) -> LlmRequestResponse:
    """Return a request with its texts, waiting up to ``wait`` seconds until it has ended."""
    app.require_known_parameters()
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
    app.require_known_parameters()
    return LlmParses(parses=parts().parsing_again.parses(app.caller, llm_request_id))


@app.delete(
    "/api/v1/llm-requests/<llm_request_id>/content", status_code=204, tags=["language models"]
)
def delete_content(llm_request_id: str) -> None:
    """Delete what a request asked and was answered; what it cost stays."""
    parts().ledger.erase(app.caller, llm_request_id)


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
