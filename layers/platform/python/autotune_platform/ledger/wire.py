"""Rows and batches as callers see them."""

from autotune.protocol import llm_batches, llm_requests
from autotune_platform.ledger.models import Batch, Row, RowInput, RowOutput


def summary_on_wire(row: Row) -> llm_requests.LlmRequestSummary:
    """Return a row without its texts."""
    return llm_requests.LlmRequestSummary.model_validate(_known(row))


def request_on_wire(
    row: Row, text: RowInput | None, output: RowOutput | None
) -> llm_requests.LlmRequest:
    """Return a row with its texts, as far as they are there."""
    asked = text.model_dump() if text else {"params": {"max_tokens": row.max_tokens}}
    answered = output.model_dump() if output and row.status == "completed" else {}
    attempts = [one.model_dump() for one in row.attempts]
    return llm_requests.LlmRequest.model_validate(
        {**_known(row), **asked, **answered, "attempts": attempts}
    )


def batch_on_wire(batch: Batch) -> llm_batches.LlmBatch:
    """Return a batch with its counts."""
    counts = llm_batches.LlmBatchCounts(
        rows=batch.rows,
        completed=batch.completed,
        error=batch.failed,
        canceled=batch.canceled,
        released=batch.released,
    )
    reserved = 0 if batch.phase == "settled" else batch.reserved_nano_usd
    state = batch.job
    job = (
        None
        if state is None
        else llm_batches.LlmJob(
            id=state.job_id,
            stage=batch.phase,
            rows=state.rows,
            stored=state.stored,
            bytes=state.bytes,
            nonce=state.nonce,
            input_file=state.input_file or None,
            key_version=state.key_version or None,
            candidates=list(state.candidates),
            cost_nano_usd=state.end.cost_nano_usd if state.end else None,
        )
    )
    return llm_batches.LlmBatch.model_validate(
        {**batch.model_dump(), "counts": counts, "reserved_nano_usd": reserved, "job": job}
    )


def _known(row: Row) -> dict[str, object]:
    price = row.price
    is_tried = bool(row.attempts) or row.has_ended
    return {
        **row.model_dump(exclude={"attempts"}),
        "price_ref": f"{price.source} {price.version}: {price.listed_by}/{price.model} {price.day}",
        "trace": row.trace or None,
        "cost_nano_usd": row.cost_nano_usd if is_tried else None,
    }
