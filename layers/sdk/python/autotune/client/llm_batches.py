"""``client.llm.batches``: jobs in which requests to language models were sent together."""

from datetime import datetime
from typing import ClassVar, Literal, Unpack

from autotune.client.arguments import request_of
from autotune.client.binding import AsyncResource, ListMethod, Method, Resource
from autotune.client.calls import Call, CallOptions, Listing, call, listing, returning
from autotune.client.filters import with_zone
from autotune.protocol import llm_batches as wire
from autotune.protocol.llm_filters import LlmBatchFilter
from autotune.protocol.llm_requests import LlmRequestSummary

_batch = returning(wire.LlmBatchResponse, lambda answer: answer.batch)
_batches = returning(wire.LlmBatchList, lambda page: (page.batches, page.next_token))
_rows = returning(wire.LlmBatchRows, lambda page: (page.requests, page.next_token))


def list_batches(
    *,
    needs_operator: bool = False,
    differs: bool = False,
    status: wire.LlmBatchStatus | None = None,
    connection_id: str | None = None,
    model: str | None = None,
    created_after: datetime | None = None,
    created_before: datetime | None = None,
    page_size: int | None = None,
    **options: Unpack[CallOptions],
) -> Listing[wire.LlmBatch]:
    """Walk through the organisation's batches, the youngest first.

    Args:
        needs_operator: only those whose creation at the provider is unclear, because several jobs
            may be it or for over an hour, which ``resolve`` ends, and those whose job the provider
            has refused to show for over six hours.
        differs: only those that were charged otherwise than their provider reports, beyond what is
            explained (``difference``), or that have requests above their bound (``above_bound``).
        status: ``queued``, ``submitted``, ``completed``, ``error`` or ``canceled``.
        connection_id: only those of this connection.
        model: only those of this model.
        created_after: the earliest moment of their creation, included; local without a zone.
        created_before: the latest one, left out.
        page_size: batches fetched at a time, 1 to 200.

    Raises:
        InvalidInputError: a filter is out of its range; nothing was sent.
    """
    wanted = request_of(
        LlmBatchFilter,
        needs_operator=needs_operator,
        differs=differs,
        status=status,
        connection_id=connection_id,
        model=model,
        created_after=with_zone(created_after),
        created_before=with_zone(created_before),
    )
    given = wanted.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    query = {name: "true" if value is True else value for name, value in given.items()}
    return listing("llm-batches", read=_batches, page_size=page_size, query=query, **options)


def get_batch(batch_id: str, **options: Unpack[CallOptions]) -> Call[wire.LlmBatch]:
    """Read a batch; its counts are those of its last step, until it has ended.

    Raises:
        NotFoundError: there is no such batch in this organisation.
    """
    return call("GET", "llm-batches", batch_id, read=_batch, **options)


def list_rows(
    batch_id: str, *, page_size: int | None = None, **options: Unpack[CallOptions]
) -> Listing[LlmRequestSummary]:
    """Walk through the requests that a batch was made for, in the order of their queue.

    Those that it did not take, or that went back to the queue, are among them.

    Args:
        page_size: requests fetched at a time, 1 to 200.

    Raises:
        NotFoundError: there is no such batch in this organisation.
    """
    return listing("llm-batches", batch_id, "rows", read=_rows, page_size=page_size, **options)


def cancel_batch(batch_id: str, **options: Unpack[CallOptions]) -> Call[wire.LlmBatch]:
    """Cancel what a batch has not asked yet; what was asked is paid, and its answer is kept.

    Raises:
        NotFoundError: there is no such batch in this organisation.
    """
    return call(
        "POST", "llm-batches", batch_id, "cancel", read=_batch, is_idempotent=True, **options
    )


def resolve_batch(
    batch_id: str,
    *,
    action: Literal["adopt", "resubmit"],
    job_id: str | None = None,
    **options: Unpack[CallOptions],
) -> Call[wire.LlmBatch]:
    """Say what became of a creation that is unclear, where several jobs may have come of it.

    Args:
        action: ``adopt`` takes a job for the batch's own, once the provider shows it; ``resubmit``
            has one created anew, and what an unknown job has done is paid twice.
        job_id: the provider's name of the job that is adopted.

    Raises:
        InvalidInputError: a job is missing, or one too many; nothing was sent.
        NotFoundError: there is no such batch in this organisation.
        ConflictError: it is not unclear, or the batch is being worked on; the job is another
            batch's, cannot be seen, or has another model or number of requests; or it is too early
            to have one created anew, and the error says from when that is possible.
    """
    body = request_of(wire.ResolveLlmBatchRequest, action=action, job_id=job_id)
    return call("POST", "llm-batches", batch_id, "resolve", read=_batch, body=body, **options)


class LlmBatchMethods:
    """Methods of batches of requests to language models."""

    _place: ClassVar = "llm.batches"

    list = ListMethod(list_batches)
    get = Method(get_batch)
    rows = ListMethod(list_rows)
    cancel = Method(cancel_batch)
    resolve = Method(resolve_batch)


class LlmBatches(LlmBatchMethods, Resource):
    """Batches of requests to language models, blocking."""


class AsyncLlmBatches(LlmBatchMethods, AsyncResource):
    """Batches of requests to language models, for an event loop."""
