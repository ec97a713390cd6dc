"""Stories of the ledger: of a request to a language model, of a batch of them, of an import."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from pydantic import BaseModel

from autotune.cli.llm_reasons import ENDED, IMPORT_ENDED, LIMITS, NOT_REASKED, WAITING, Why
from autotune.cli.llm_spending import dollars
from autotune.cli.story import Story, number
from autotune.client import AutotuneClient, NotFoundError, PermissionDeniedError
from autotune.protocol.llm_batches import LlmBatch
from autotune.protocol.llm_connections import LlmConnection
from autotune.protocol.llm_requests import LlmRequest

_STAGES = {
    "building": "its requests are being taken from their queue",
    "writing": "its input is being written",
    "uploading": "its input is being uploaded",
    "creating": "its job is being created at the provider",
    "unknown": "whether its job was created is being found out; until then nothing is sent again",
    "polling": "the provider works on its job",
    "fetching": "its results are being fetched",
    "ingesting": "its results are being stored",
    "cleaning": "what is left at the provider is being deleted",
    "settled": "it is over",
}


def explain_request(client: AutotuneClient, story: Story, id_: str) -> dict[str, Any]:
    """Tell what a request is, why it waits or how it ended, and what to do."""
    found = client.llm.get(id_)
    asked = f"{found.purpose}, model {found.model} of {found.provider}, {found.connection_id}"
    story.add("request", f"{id_} to a language model, for {asked}")
    _add_belongings(story, found)
    _add_price(story, found)
    batch: LlmBatch | None = None
    connection: LlmConnection | None = None
    if found.status == "queued":
        story.add("state", f"queued since {story.at(found.updated_at)}, attempt {found.attempt}")
        _add_why(story, WAITING, found.waiting_because, "waits")
        if found.waiting_because == "connection_paused":
            connection = _add_connection(story, client, found.connection_id)
    elif found.status == "submitted":
        story.add("state", f"submitted at {story.at(found.updated_at)}, attempt {found.attempt}")
        if found.batch_id is not None:
            batch = client.llm.batches.get(found.batch_id)
            _add_batch(story, batch)
    else:
        ended = found.finish_reason and f", finished by {found.finish_reason}"
        story.add("state", f"{found.status} at {story.at(found.updated_at)}{ended or ''}")
    if found.cancel_requested_at is not None:
        story.add("cancel", f"asked for at {story.at(found.cancel_requested_at)}")
    if found.complete_by is not None and found.status == "queued":
        story.add("deadline", f"ends as expired at {story.at(found.complete_by)}, if it waits then")
    for one in found.attempts:
        failed = f"{one.error.code}: {one.error.message}" if one.error else "answered"
        cost = f", {dollars(one.cost_nano_usd)} USD" if one.cost_nano_usd else ""
        key = f", key version {one.key_version}" if one.key_version else ""
        story.add("attempt", f"{one.number} at {story.at(one.at)}: {failed}{cost}{key}")
    if found.error is not None:
        story.add("error", f"{found.error.code}: {found.error.message}")
        _add_why(story, ENDED, found.error.code)
    _add_verdict(story, found)
    return {
        "request": _document(found),
        "batch": _document(batch) if batch else None,
        "connection": _document(connection) if connection else None,
    }


def _add_belongings(story: Story, found: LlmRequest) -> None:
    for label, text in (
        ("import", found.import_id),
        ("completion", found.completion_id),
        ("deck", found.deck_id),
        ("retry of", found.retry_of),
        ("asked for", found.reask_of),
    ):
        if text is not None:
            story.add(label, text)


def _add_price(story: Story, found: LlmRequest) -> None:
    """Tell how a request is sent, and at which price."""
    how = "in a batch job of the provider" if found.mode == "job" else "by itself"
    price = found.price
    story.add("sent", f"{how}; an attempt costs at most {dollars(found.bound_nano_usd)} USD")
    story.add(
        "price",
        f"{price.processing}: {price.input_usd} USD for a million tokens of input, "
        f"{price.output_usd} of output",
    )


def _add_verdict(story: Story, found: LlmRequest) -> None:
    if found.parse_error is not None:
        story.add("verdict", f"{found.parse_error.code}: {found.parse_error.message}")
        story.add("", "what to do: `autotune llm parse` reads the answer in another format, free")
    elif found.verdict_text is not None:
        story.add("verdict", found.verdict_text)
    if found.reasked_as is not None:
        story.add("asked again", f"as {found.reasked_as}, because its verdict cannot be read")
    elif found.reask_due:
        story.add("asked again", "soon, because its verdict cannot be read")
    elif found.reask_skipped is not None:
        _add_why(story, NOT_REASKED, found.reask_skipped, "not reasked")


def explain_batch(client: AutotuneClient, story: Story, id_: str) -> dict[str, Any]:
    """Tell how far a batch of requests is, what it waits for, and what to do."""
    found = client.llm.batches.get(id_)
    _add_batch(story, found)
    connection: LlmConnection | None = None
    if found.completed_at is None:
        connection = _add_connection(story, client, found.connection_id, only_paused=True)
    return {
        "batch": _document(found),
        "connection": _document(connection) if connection else None,
    }


def _add_batch(story: Story, found: LlmBatch) -> None:
    how = "a job of the provider" if found.mode == "job" else "calls one by one"
    asked = f"model {found.model} of {found.provider}, {found.connection_id}"
    story.add("batch", f"{found.id} of {number(found.counts.rows, 'request')}, {how}: {asked}")
    ended = found.completed_at
    since = f"ended at {story.at(ended)}" if ended else f"made at {story.at(found.created_at)}"
    story.add("state", f"{found.status}, {since}")
    counts = found.counts.model_dump(exclude={"rows"})
    named = [f"{count:,} {state}" for state, count in counts.items() if count]
    if named:
        story.add("requests", ", ".join(named))
    if found.counts.released:
        story.add("", "released ones went back to their queue, and go with a later batch")
    _add_progress(story, found)
    if ended is None:
        _add_job(story, found)
    if found.unclear:
        story.add("unclear", f"{number(found.unclear, 'call')} may be paid without an answer")
    if found.difference is not None and not found.difference.within_tolerance:
        story.add("charged", "otherwise than the provider reports: see `difference` with --json")
    if found.above_bound:
        story.add("charged", f"{number(found.above_bound, 'request')} above what was reserved")
    if found.error is not None:
        story.add("error", f"{found.error.code}: {found.error.message}")
        _add_why(story, ENDED, found.error.code)


def _add_progress(story: Story, found: LlmBatch) -> None:
    """Tell whether a batch was canceled, how long it is, and what it waits for."""
    if found.cancel_requested_at is not None:
        story.add("cancel", f"asked for at {story.at(found.cancel_requested_at)}")
    if found.cancel_detail is not None:
        story.add("", found.cancel_detail)
    if found.input_tokens is not None:
        story.add("tokens", f"{found.input_tokens:,} of input at most")
    if found.waiting_for is not None:
        story.add("waits", f"for {LIMITS[found.waiting_for]} ({found.waiting_for})")
        story.add("", "what to do: nothing, or raise this limit of the connection")


def _add_job(story: Story, found: LlmBatch) -> None:
    """Tell how far a batch's job is at the provider."""
    job = found.job
    if job is not None:
        story.add("job", f"{job.id or 'without an id yet'}: {_STAGES.get(job.stage, job.stage)}")
        if job.candidates:
            story.add("", f"it may be any of {', '.join(job.candidates)}")
            story.add("", f"what to do: `autotune llm resolve-batch {found.id}` says which it is")
    if found.progress is not None:
        done = found.progress.completed + found.progress.failed
        seen = story.at(found.progress.at)
        story.add("progress", f"{done:,} of {found.progress.rows:,} at the provider, seen {seen}")


def explain_import(client: AutotuneClient, story: Story, id_: str) -> dict[str, Any]:
    """Tell how far an import is, what it waits for or why it ended, and what to do."""
    found = client.llm.get_import(id_)
    counts = found.counts
    story.add("import", f"{id_} of {found.bytes:,} bytes, {found.format}, for {found.purpose}")
    since = found.completed_at or found.started_at or found.created_at
    story.add("state", f"{found.state} since {story.at(since)}")
    story.add(
        "lines",
        f"{counts.lines:,} read, {counts.enqueued:,} enqueued, {counts.rejected:,} rejected",
    )
    if found.state == "awaiting_upload":
        story.add("", "what to do: upload its file and start it, within a day of its creation")
    if found.waiting_because is not None:
        story.add("waits", found.waiting_because)
        story.add("", "what to do: nothing, it goes on as others end; for five days at most")
    for one in found.errors:
        field = f"{one.field}: " if one.field else ""
        story.add("rejected", f"line {one.line}: {field}{one.message}")
    unlisted = counts.rejected - len(found.errors)
    if unlisted > 0:
        story.add("", f"and {unlisted:,} more: `autotune llm import … --report FILE` writes all")
    _add_why(story, IMPORT_ENDED, found.error_code, "failed")
    if counts.enqueued:
        story.add("requests", f"`autotune llm wait --import {id_}` says what became of them")
    connection: LlmConnection | None = None
    if found.state in {"running", "waiting"}:
        connection = _add_connection(story, client, found.connection_id, only_paused=True)
    # Links are permissions: they are not for a terminal's history.
    shown = found.model_copy(update={"upload": None, "report": None})
    return {
        "import": _document(shown),
        "connection": _document(connection) if connection else None,
    }


def _add_connection(
    story: Story, client: AutotuneClient, connection_id: str, *, only_paused: bool = False
) -> LlmConnection | None:
    """Tell how a connection stands, where the key's role may read that."""
    found: LlmConnection | None = None
    with suppress(NotFoundError, PermissionDeniedError):
        found = client.llm.connections.get(connection_id)
    if found is not None and (found.status != "active" or not only_paused):
        because = f": {found.paused_because}" if found.paused_because else ""
        story.add("connection", f"{found.id} {found.name} is {found.status}{because}")
    return found


def _add_why(story: Story, table: Mapping[Any, Why], code: str | None, label: str = "") -> None:
    """Add what a code means and what to do; a code that came later adds itself alone."""
    if code is None:
        return
    why = table.get(code)
    story.add(label, f"{code}: {why.means}" if why else code)
    if why is not None:
        story.add("", f"what to do: {why.do}")


def _document(thing: BaseModel) -> dict[str, Any]:
    return thing.model_dump(by_alias=True, mode="json")
