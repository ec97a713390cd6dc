"""``client.batches``: how far the completions of one request have come."""

from collections.abc import Mapping
from typing import Unpack

from autotune.client.binding import AsyncResource, ListMethod, Method, Resource
from autotune.client.calls import Call, CallOptions, Listing, call, listing, nothing, returning
from autotune.client.exchange import Plan
from autotune.client.waiting import polling
from autotune.protocol.batches import BatchCompletionList, BatchList, BatchState, BatchSummary
from autotune.protocol.completions import BatchResponse, CompletionState, CompletionVerdict
from autotune.protocol.explanations import BatchExplanation

_batch = returning(BatchResponse)
_batches = returning(BatchList, lambda page: (page.batches, page.next_token))
_completions = returning(BatchCompletionList, lambda page: (page.completions, page.next_token))
_explained = returning(BatchExplanation)


def get_batch(
    batch_id: str, *, wait: int = 0, **options: Unpack[CallOptions]
) -> Call[BatchResponse]:
    """Read a batch: its counts, and every verdict so far in request order.

    Args:
        wait: seconds that the server may hold the request while something is pending, 0 to 20.

    Raises:
        NotFoundError: there is no such batch in this organisation.
    """
    return call("GET", "batches", batch_id, read=_batch, wait=wait, **options)


def list_batches(
    *,
    state: BatchState | None = None,
    task_id: str | None = None,
    page_size: int | None = None,
    **options: Unpack[CallOptions],
) -> Listing[BatchSummary]:
    """Walk through the batches of the organisation with their counts, the youngest first.

    Args:
        state: only those that are ``open``, or ``closed``: all of their verdicts are counted.
        task_id: only those with a completion of this task.
        page_size: batches fetched at a time, 1 to 200.
    """
    query = {"state": state, "taskId": task_id}
    return listing("batches", read=_batches, page_size=page_size, query=query, **options)


def list_batch_completions(
    batch_id: str,
    *,
    state: CompletionState | None = None,
    grader_id: str | None = None,
    page_size: int | None = None,
    **options: Unpack[CallOptions],
) -> Listing[CompletionVerdict]:
    """Walk through the completions of a batch in the order of the request.

    They come without dimensions, reasoning and opinions.

    Args:
        state: only those in this state, such as ``pending``.
        grader_id: only those that this grader, or this panel, decides.
        page_size: completions fetched at a time, 1 to 200.

    Raises:
        NotFoundError: there is no such batch in this organisation.
    """
    return listing(
        "batches",
        batch_id,
        "completions",
        read=_completions,
        page_size=page_size,
        query={"state": state, "graderId": grader_id},
        **options,
    )


def explain_batch(batch_id: str, **options: Unpack[CallOptions]) -> Call[BatchExplanation]:
    """Read what is pending in a batch, and which graders and runs it waits for.

    Raises:
        NotFoundError: there is no such batch in this organisation.
    """
    return call("GET", "batches", batch_id, "explanation", read=_explained, **options)


def cancel_batch(batch_id: str, **options: Unpack[CallOptions]) -> Call[BatchResponse]:
    """Cancel what is pending in a batch; return where it stands.

    Raises:
        NotFoundError: there is no such batch in this organisation.
    """
    return call("POST", "batches", batch_id, "cancel", read=_batch, is_idempotent=True, **options)


def delete_batch_content(batch_id: str, **options: Unpack[CallOptions]) -> Call[None]:
    """Delete the texts of a batch; verdicts stay, and what had none is ``canceled``.

    Deleting again changes nothing.

    Raises:
        NotFoundError: there is no such batch in this organisation.
    """
    return call("DELETE", "batches", batch_id, "content", read=nothing, **options)


def wait_for_batch(
    batch_id: str, *, timeout: float | None = None, extra_headers: Mapping[str, str] | None = None
) -> Plan[BatchResponse]:
    """Wait until nothing of a batch is pending.

    Args:
        timeout: seconds to wait in all; None waits for ever. Each attempt has the client's own.

    Raises:
        WaitTimeoutError: something was still pending after ``timeout``.
        NotFoundError: there is no such batch in this organisation.
    """
    return polling(
        lambda hold: get_batch(batch_id, wait=hold, extra_headers=extra_headers),
        pending=lambda batch: batch.counts.pending > 0,
        timeout=timeout,
        what=batch_id,
    )


class BatchMethods:
    """Methods of batches."""

    get = Method(get_batch)
    list = ListMethod(list_batches)
    completions = ListMethod(list_batch_completions)
    explain = Method(explain_batch)
    cancel = Method(cancel_batch)
    delete_content = Method(delete_batch_content)
    wait = Method(wait_for_batch)


class Batches(BatchMethods, Resource):
    """Batches, blocking."""


class AsyncBatches(BatchMethods, AsyncResource):
    """Batches, for an event loop."""
