"""``client.batches``: how far the completions of one request have come."""

from collections.abc import Mapping
from typing import Unpack

from autotune.client.binding import AsyncResource, Method, Resource
from autotune.client.calls import Call, CallOptions, call, nothing, returning
from autotune.client.exchange import Plan
from autotune.client.waiting import polling
from autotune.protocol.completions import BatchResponse
from autotune.protocol.explanations import BatchExplanation

_batch = returning(BatchResponse)
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
    explain = Method(explain_batch)
    cancel = Method(cancel_batch)
    delete_content = Method(delete_batch_content)
    wait = Method(wait_for_batch)


class Batches(BatchMethods, Resource):
    """Batches, blocking."""


class AsyncBatches(BatchMethods, AsyncResource):
    """Batches, for an event loop."""
