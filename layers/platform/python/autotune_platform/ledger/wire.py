"""Rows and batches as callers see them."""

from collections.abc import Mapping
from decimal import Decimal

from autotune.protocol import llm_batches, llm_parses, llm_prices, llm_requests
from autotune.protocol.verdict_formats import VerdictFormat
from autotune_platform.ledger.job_sizes import is_cancelable
from autotune_platform.ledger.job_states import JobEnd
from autotune_platform.ledger.models import Batch, Row
from autotune_platform.ledger.parses import LaterParse, reading_format
from autotune_platform.ledger.phases import phase_of
from autotune_platform.ledger.price_lists import FEMTO_A_TOKEN, Rate
from autotune_platform.ledger.prices import PriceSnapshot
from autotune_platform.ledger.row_texts import RowInput, RowOutput


def summary_on_wire(row: Row) -> llm_requests.LlmRequestSummary:
    """Return a row without its texts."""
    return llm_requests.LlmRequestSummary.model_validate(_known(row))


def request_on_wire(
    row: Row, text: RowInput | None, output: RowOutput | None
) -> llm_requests.LlmRequest:
    """Return a row with its texts, as far as they are there."""
    asked = (
        text.model_dump(exclude_defaults=True)
        if text
        else {"params": {"max_tokens": row.max_tokens}}
    )
    answered = _answered(output, text) if output and row.status == "completed" else {}
    attempts = [one.model_dump() for one in row.attempts]
    return llm_requests.LlmRequest.model_validate(
        {**_known(row), **asked, **answered, "attempts": attempts}
    )


def parses_on_wire(row: Row, text: RowInput, output: RowOutput) -> list[llm_parses.LlmParse]:
    """Return all parses of a completed row, the first one first."""
    first = []
    if text.verdict is not None:
        # Rows from before it was stored were read by the first parser.
        first.append(
            llm_parses.LlmParse.model_validate(
                {
                    **output.model_dump(include={"verdict_text", "parsed_verdict"}),
                    "version": 1,
                    "parser_version": row.parser_version or 1,
                    "verdict": text.verdict,
                    "parsed_at": row.attempts[-1].at if row.attempts else row.updated_at,
                    "parse_error": row.parse_error and row.parse_error.model_dump(),
                }
            )
        )
    return [*first, *map(parse_on_wire, output.later)]


def parse_on_wire(parse: LaterParse) -> llm_parses.LlmParse:
    """Return a parse after the first."""
    return llm_parses.LlmParse.model_validate(
        {
            **parse.model_dump(),
            "parsed_at": parse.at,
            "parsed_by": parse.by,
            "parse_error": parse.error and parse.error.model_dump(),
        }
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
    changed = {
        "counts": counts,
        "reserved_nano_usd": reserved,
        "job": job,
        "reported": _reported(state.end if state else None),
        "difference": _difference(batch),
        # One that is canceled while it waits, waits no more.
        "waiting_for": batch.waiting_for if phase_of(batch).may_wait else None,
        "input_tokens": batch.input_tokens if batch.mode == "job" else None,
        "cancel_detail": _why_not_canceled(batch),
    }
    return llm_batches.LlmBatch.model_validate({**batch.model_dump(), **changed})


def _why_not_canceled(batch: Batch) -> str | None:
    """Return why a batch goes on that was canceled."""
    has_job = batch.job is not None and batch.job.job_id is not None
    if batch.cancel_requested_at is None or batch.phase == "settled" or not has_job:
        return None
    if is_cancelable(batch.provider):
        return None
    return (
        f"{batch.provider} cancels no batch jobs: this one goes on there, what it answers is paid, "
        "and the answers are kept"
    )


def _reported(end: JobEnd | None) -> llm_batches.LlmReported | None:
    if end is None or (end.usage is None and end.cost_nano_usd is None):
        return None
    usage = end.usage.model_dump() if end.usage else None
    return llm_batches.LlmReported.model_validate(
        {"usage": usage, "cost_nano_usd": end.cost_nano_usd}
    )


def _difference(batch: Batch) -> llm_batches.LlmDifference | None:
    if batch.difference is None:
        return None
    dropped = batch.job.strange if batch.job else 0
    return llm_batches.LlmDifference(**batch.difference.model_dump(), dropped_results=dropped)


def _answered(output: RowOutput, text: RowInput | None) -> dict[str, object]:
    """Return an answer with what its latest parse read."""
    shown: dict[str, object] = output.model_dump(exclude={"later"})
    if output.later:
        latest = output.later[-1]
        shown |= latest.model_dump(include={"verdict_text", "parsed_verdict"})
        shown |= {
            "reasoning": latest.reasoning_in(output.raw_output),
            "parse_error": latest.error and latest.error.model_dump(),
            "parse_version": latest.version,
        }
        if text is None or text.verdict is None or not _is_alike(text.verdict, latest.verdict):
            shown["parsed_with"] = latest.verdict
    return shown


def _is_alike(asked: Mapping[str, object], read_with: Mapping[str, object]) -> bool:
    return reading_format(VerdictFormat.model_validate(asked)) == read_with


def _known(row: Row) -> dict[str, object]:
    price = row.price
    is_tried = bool(row.attempts) or row.has_ended
    latest = row.latest_parse
    parsed: dict[str, object] = (
        {"parse_version": None if row.parser_version is None else 1}
        if latest is None
        else {"parse_version": latest.version, "parse_error": latest.error}
    )
    return {
        **row.model_dump(exclude={"attempts", "messages"}),
        **parsed,
        "reask_due": row.reask == "due",
        "price": _price(price),
        "price_ref": f"{price.source} {price.version}: {price.listed_by}/{price.model} {price.day}",
        "trace": row.trace or None,
        "cost_nano_usd": row.cost_nano_usd if is_tried else None,
        "cost_is_assumed": row.cost_is_assumed,
    }


_RATES = ("input", "output", "cached_input", "cache_write", "reasoning")


def _price(price: PriceSnapshot) -> llm_prices.LlmPrice:
    found: dict[str, Rate | None] = {name: getattr(price, name) for name in _RATES}
    rates = {name: rate for name, rate in found.items() if rate is not None}
    edges = sorted({tier.above for rate in rates.values() for tier in rate.tiers})
    return llm_prices.LlmPrice(
        processing=price.processing,
        source=price.source,
        tiers=[
            llm_prices.LlmPriceTier(
                above_input_tokens=edge,
                **{f"{name}_usd": _usd(rate.of_call(edge + 1)) for name, rate in rates.items()},
            )
            for edge in edges
        ],
        **{f"{name}_usd": _usd(rate.base) for name, rate in rates.items()},
    )


def _usd(rate: int) -> str:
    """Return femto-USD for a token as US dollars for a million of them."""
    return f"{(Decimal(rate) / FEMTO_A_TOKEN).normalize():f}"
