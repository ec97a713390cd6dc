"""Completions and batches."""

from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Query

from autotune.protocol.batches import BatchCompletionList, BatchList, BatchState
from autotune.protocol.completions import (
    BatchResponse,
    BatchSubmitRequest,
    BatchSubmitResponse,
    CompletionResponse,
    CompletionState,
    NewCompletion,
    Priority,
    SubmitCompletionRequest,
    SubmitCompletionResponse,
    VerdictResponse,
)
from autotune.protocol.completions import Completion as WireCompletion
from autotune.protocol.rescoring import RescoreRequest, RescoreResponse
from autotune.protocol.scores import ScoringGraderId
from autotune.protocol.types import TaskId
from autotune_platform.completions.submission import Submission
from autotune_platform.completions.wire import batch_on_wire, completion_on_wire, status_on_wire
from autotune_platform.http.api import Api
from autotune_platform.http.parameters import IdempotencyKey, NextToken, PageSize
from autotune_platform.projections.batch_lists import batch_summary
from autotune_platform.runtime.environment.completions import SubmissionEnvironment
from autotune_platform.wiring.submission import CompletionApiParts


@cache
def parts() -> CompletionApiParts:
    """Return what this process is put together from."""
    return CompletionApiParts(SubmissionEnvironment.parse())


app = Api(parts)


@app.post("/api/v1/completions", status_code=202, tags=["completions"])
def submit_completion(
    body: SubmitCompletionRequest, idempotency_key: IdempotencyKey = None
) -> Response[SubmitCompletionResponse]:
    """Accept one completion to be scored; 202 means that it is durable."""
    submission = _submit([body], body.priority, idempotency_key, alone=True)
    batch = submission.batch
    completion = WireCompletion(
        id=batch.completion_ids[0],
        batch_id=batch.id,
        created_at=batch.created_at,
        **body.model_dump(exclude={"priority"}),
    )
    return _accepted(
        SubmitCompletionResponse(
            completion=completion,
            estimated_score_time_ms=batch.estimated_score_time_ms,
            warnings=list(submission.warnings),
        ),
        submission,
    )


@app.post("/api/v1/completions/batch", status_code=202, tags=["completions"])
def submit_batch(
    body: BatchSubmitRequest, idempotency_key: IdempotencyKey = None
) -> Response[BatchSubmitResponse]:
    """Accept many completions, all or none; 202 means that they are durable."""
    submission = _submit(body.completions, body.priority, idempotency_key, alone=False)
    batch = submission.batch
    return _accepted(
        BatchSubmitResponse(
            batch_id=batch.id,
            completion_ids=batch.completion_ids,
            created_at=batch.created_at,
            estimated_score_time_ms=batch.estimated_score_time_ms,
            warnings=list(submission.warnings),
        ),
        submission,
    )


@app.post("/api/v1/completions/rescore", status_code=202, tags=["completions"])
def rescore_completions(
    body: RescoreRequest, idempotency_key: IdempotencyKey = None
) -> Response[RescoreResponse]:
    """Score completions again that have a verdict, in place; what they had stays readable.

    202 means that it is durable. An answer with ``nextToken`` has done a part.
    """
    done = parts().rescoring.rescore(app.caller, body, idempotency_key=idempotency_key)
    if len(done.batches) == 1:
        app.made(batch_id=done.batches[0].batch_id)
    return Response(status_code=202, content_type="application/json", body=done)


@app.get("/api/v1/completions/<completion_id>", tags=["completions"])
def read_completion(completion_id: str) -> CompletionResponse:
    """Return one completion; once its text was deleted or has expired, there is none."""
    return CompletionResponse(
        completion=completion_on_wire(parts().completions.get(app.caller, completion_id))
    )


@app.delete("/api/v1/completions/<completion_id>", status_code=204, tags=["completions"])
def delete_completion(completion_id: str) -> None:
    """Delete a completion's text; its verdict stays, or is ``canceled`` if it had none."""
    parts().deletion.delete(app.caller, completion_id)


@app.post("/api/v1/completions/<completion_id>/cancel", tags=["completions"])
def cancel_completion(completion_id: str) -> VerdictResponse:
    """Cancel a completion unless it has a verdict; an answer that comes later is dropped."""
    status = parts().completions.cancel(app.caller, completion_id)
    return VerdictResponse(verdict=status_on_wire(status, app.scope))


@app.get("/api/v1/batches", tags=["completions"])
def list_batches(
    state: Annotated[BatchState | None, Query()] = None,
    task_id: Annotated[TaskId | None, Query(alias="taskId")] = None,
    limit: PageSize = 50,
    next_token: NextToken = None,
) -> BatchList:
    """List batches with how far each has come, the youngest first.

    A single completion is a batch of one. With ``state`` or ``taskId`` a page may be short, even
    empty, while ``nextToken`` says that there is more: it ends when it has looked at 2,000 batches.
    Batches from before this list was there are not in it.
    """
    batches, token = parts().batch_lists.page(
        app.caller, state=state, task_id=task_id, limit=limit, next_token=next_token
    )
    return BatchList(batches=[batch_summary(one) for one in batches], next_token=token)


@app.get("/api/v1/batches/<batch_id>/completions", tags=["completions"])
def list_batch_completions(
    batch_id: str,
    state: Annotated[CompletionState | None, Query()] = None,
    grader_id: Annotated[ScoringGraderId | None, Query(alias="graderId")] = None,
    limit: PageSize = 50,
    next_token: NextToken = None,
) -> BatchCompletionList:
    """List the completions of a batch in the order of the request, each with where it stands.

    They come without dimensions, reasoning and opinions, as the batch itself does.
    """
    found, token = parts().batch_completions.page(
        app.caller,
        batch_id,
        state=state,
        grader_id=grader_id,
        limit=limit,
        next_token=next_token,
    )
    shown = [status_on_wire(one, app.scope, brief=True) for one in found]
    return BatchCompletionList(completions=shown, next_token=token)


@app.post("/api/v1/batches/<batch_id>/cancel", tags=["completions"])
def cancel_batch(batch_id: str) -> BatchResponse:
    """Cancel what is pending in a batch; answers that come later are dropped."""
    return batch_on_wire(parts().completions.cancel_batch(app.caller, batch_id))


@app.delete("/api/v1/batches/<batch_id>/content", status_code=204, tags=["completions"])
def delete_batch_content(batch_id: str) -> None:
    """Delete the texts of a batch; its verdicts stay, and what had none is ``canceled``."""
    parts().deletion.delete_batch_content(app.caller, batch_id)


def _submit(
    completions: Sequence[NewCompletion],
    priority: Priority,
    idempotency_key: str | None,
    *,
    alone: bool,
) -> Submission:
    submission = parts().submissions.submit(
        app.caller, completions, priority=priority, idempotency_key=idempotency_key, alone=alone
    )
    app.made(batch_id=submission.batch.id)
    return submission


def _accepted(body: Any, submission: Submission) -> Response[Any]:
    headers: dict[str, str | list[str]] = {}
    if submission.replayed:
        headers["Idempotent-Replayed"] = "true"
    return Response(status_code=202, content_type="application/json", body=body, headers=headers)


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one HTTP request."""
    return app.handle(event, context)
