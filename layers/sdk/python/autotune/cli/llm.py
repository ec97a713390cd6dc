"""``autotune llm``: requests to language models, asked in batches and paid by budget."""

from functools import partial
from typing import Annotated, Literal

import typer

from autotune.cli.invocation import (
    Columns,
    Invocation,
    command,
    note,
    page_size,
    stop,
)
from autotune.cli.llm_connections import (
    connect,
    connections,
    revoke_connection,
    update_connection,
    verify,
)
from autotune.cli.llm_deleting import delete_content, delete_content_matching
from autotune.cli.llm_enqueuing import enqueue
from autotune.cli.llm_filters import AllOfThem, BatchFilterOptions, RequestFilterOptions
from autotune.cli.llm_imports import import_file, imports
from autotune.cli.llm_parsing import parse, parse_matching, parses
from autotune.cli.llm_rows import RowIds, row_ids
from autotune.cli.llm_showing import show
from autotune.cli.llm_spending import budget, costs, dollars, estimate
from autotune.cli.llm_tokens import app as tokens
from autotune.cli.llm_waiting import results, wait
from autotune.cli.llm_words import naming_options
from autotune.protocol.llm_batches import LlmBatch
from autotune.protocol.llm_requests import LlmRequestSummary

app = typer.Typer(
    no_args_is_help=True,
    help="Requests to language models: sent in batches, paid within a budget.",
)

_COLUMNS: Columns[LlmRequestSummary] = {
    "ID": lambda one: one.id,
    "STATUS": lambda one: one.status,
    "PURPOSE": lambda one: one.purpose,
    "MODEL": lambda one: one.model,
    "MODE": lambda one: one.mode,
    "ATTEMPT": lambda one: one.attempt,
    "USD": lambda one: dollars(one.cost_nano_usd),
    "ERROR": lambda one: one.error.code if one.error else one.parse_error and one.parse_error.code,
    "CREATED": lambda one: f"{one.created_at:%Y-%m-%d %H:%M:%S}",
}


def _status(batch: LlmBatch) -> str:
    """Return how a batch stands; one that is over without its rows did not complete any."""
    is_empty = batch.counts.rows and batch.counts.released == batch.counts.rows
    return f"{batch.status}, all released" if is_empty else batch.status


_BATCHES: Columns[LlmBatch] = {
    "ID": lambda one: one.id,
    "STATUS": _status,
    "MODEL": lambda one: one.model,
    "REQUESTS": lambda one: one.counts.rows,
    "COMPLETED": lambda one: one.counts.completed,
    "ERROR": lambda one: one.counts.error,
    "CANCELED": lambda one: one.counts.canceled,
    "RELEASED": lambda one: one.counts.released,
    "UNCLEAR": lambda one: one.unclear,
    "USD": lambda one: dollars(one.cost_nano_usd),
    "CREATED": lambda one: f"{one.created_at:%Y-%m-%d %H:%M:%S}",
    "WAITS FOR": lambda one: one.waiting_for,
    "CANCEL ASKED": lambda one: (
        one.cancel_requested_at and f"{one.cancel_requested_at:%Y-%m-%d %H:%M:%S}"
    ),
}

_command = partial(command, app, within=naming_options)

Limit = Annotated[int | None, typer.Option(min=1, help="At most this many.")]

app.add_typer(tokens, name="tokens")
_command()(connect)
_command()(connections)
_command()(update_connection)
_command()(revoke_connection)
_command()(verify)


_command()(enqueue)
_command("import")(import_file)
_command()(imports)


@_command("list")
def list_(
    invocation: Invocation,
    *,
    filters: RequestFilterOptions,
    limit: Annotated[int, typer.Option(min=1, help="At most this many.")] = 100,
) -> None:
    """List requests without their texts, the youngest first."""
    found = invocation.client.llm.list(page_size=page_size(limit), **filters.arguments())
    invocation.show_all(found, _COLUMNS, limit)


@_command()
def cancel_matching(
    invocation: Invocation, *, filters: RequestFilterOptions, every: AllOfThem = False
) -> None:
    """Cancel all requests that match and have not ended; print their ids, one a line."""
    arguments = filters.required(every=every)
    count = invocation.client.llm.cancel_matching(on_page=_print_ids, **arguments)
    note(f"{count} canceled")


@_command()
def retry_matching(
    invocation: Invocation, *, filters: RequestFilterOptions, every: AllOfThem = False
) -> None:
    """Retry all requests that match, else that ended without an answer; print the new ids.

    The same command again enqueues nothing more.
    """
    arguments = filters.required(every=every)
    count = invocation.client.llm.retry_matching(on_page=_print_ids, **arguments)
    note(f"{count} enqueued")


_command()(show)
_command()(wait)
_command()(results)


@_command()
def cancel(invocation: Invocation, what: RowIds) -> None:
    """Cancel requests; what was asked is paid, and its answer is kept."""
    client = invocation.client.llm
    invocation.show_all((client.cancel(one) for one in row_ids(what)), _COLUMNS)


@_command()
def retry(invocation: Invocation, what: RowIds) -> None:
    """Enqueue requests that have ended once more; print the ids of the new ones, one a line."""
    for one in row_ids(what):
        again = invocation.client.llm.retry(one)
        if invocation.as_json:
            invocation.show_json({"requestId": again, "retryOf": one})
        else:
            typer.echo(again)


_command()(parse)
_command()(parse_matching)
_command()(parses)


_command()(delete_content)
_command()(delete_content_matching)


@_command()
def batches(
    invocation: Invocation,
    *,
    filters: BatchFilterOptions,
    limit: Limit = None,
) -> None:
    """List batches, the youngest first."""
    found = invocation.client.llm.batches.list(page_size=page_size(limit), **filters.arguments())
    invocation.show_all(found, _BATCHES, limit)


@_command()
def batch(
    invocation: Invocation,
    batch_id: str,
    *,
    rows: Annotated[bool, typer.Option("--rows", help="List its requests instead.")] = False,
) -> None:
    """Show a batch, or list the requests that it was made for."""
    client = invocation.client.llm.batches
    if rows:
        invocation.show_all(client.rows(batch_id), _COLUMNS)
    else:
        invocation.show(client.get(batch_id))


@_command()
def cancel_batch(invocation: Invocation, batch_id: str) -> None:
    """Cancel what a batch has not asked yet; what was asked is paid, and its answer is kept."""
    found = invocation.client.llm.batches.cancel(batch_id)
    invocation.show(found)
    if found.cancel_detail is not None:
        note(found.cancel_detail)


@_command()
def resolve_batch(
    invocation: Invocation,
    batch_id: str,
    *,
    adopt: Annotated[str | None, typer.Option(metavar="JOB", help="The batch's job.")] = None,
    resubmit: Annotated[bool, typer.Option("--resubmit", help="There is no job of it.")] = False,
) -> None:
    """Say what became of a batch's job where several may be it; see `batch`, `candidates`.

    The job is looked at before it is adopted. --resubmit is refused until 15 minutes after the
    creation: until then a job may be there and not be visible.
    """
    if (adopt is None) != resubmit:
        stop("give either --adopt JOB or --resubmit")
    batches = invocation.client.llm.batches
    action: Literal["adopt", "resubmit"] = "resubmit" if adopt is None else "adopt"
    invocation.show(batches.resolve(batch_id, action=action, job_id=adopt))


_command()(costs)
_command()(estimate)
_command()(budget)


def _print_ids(ids: list[str]) -> None:
    for one in ids:
        typer.echo(one)
