"""``autotune llm``: requests to language models, asked in batches and paid by budget."""

from contextlib import ExitStack
from typing import Annotated, Literal

import typer

from autotune.cli import exit_codes
from autotune.cli.exit_codes import exit_code_of
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
from autotune.cli.llm_filters import AllOfThem, RequestFilterOptions
from autotune.cli.llm_imports import import_file, imports
from autotune.cli.llm_parsing import parse, parse_matching, parses
from autotune.cli.llm_rows import RowDefaults, RowFile, RowIds, RowsFile, row_ids
from autotune.cli.llm_spending import budget, costs, dollars, estimate
from autotune.cli.llm_tokens import app as tokens
from autotune.cli.llm_waiting import results, wait
from autotune.cli.progress import CountProgress
from autotune.cli.scores import naming_options
from autotune.client import AutotuneError
from autotune.protocol.limits import MAX_WAIT_SECONDS
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
    "ATTEMPT": lambda one: one.attempt,
    "USD": lambda one: dollars(one.cost_nano_usd),
    "ERROR": lambda one: one.error.code if one.error else one.parse_error and one.parse_error.code,
    "CREATED": lambda one: f"{one.created_at:%Y-%m-%d %H:%M:%S}",
}
_BATCHES: Columns[LlmBatch] = {
    "ID": lambda one: one.id,
    "STATUS": lambda one: one.status,
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
}

Limit = Annotated[int | None, typer.Option(min=1, help="At most this many.")]

app.add_typer(tokens, name="tokens")
command(app)(connect)
command(app)(connections)
command(app)(update_connection)
command(app)(revoke_connection)
command(app)(verify)


@command(app)
def enqueue(
    invocation: Invocation,
    *,
    file: RowsFile,
    defaults: RowDefaults,
    idempotency_key: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Give a new name to enqueue the same lines once more, as new ones.",
        ),
    ] = None,
) -> None:
    """Enqueue a file of requests and print their ids, one a line.

    Every line is checked before anything is sent. The same file, options and --idempotency-key
    enqueue nothing the second time, so after Ctrl-C or an error run the same command again.
    """
    with ExitStack() as kept:
        rows = RowFile(file, defaults, kept=kept)
        rows.check()
        total = len(rows.line_numbers)
        key = idempotency_key or f"autotune-llm.{rows.digest}"
        progress = kept.enter_context(CountProgress("enqueued", total))
        try:
            done = invocation.client.llm.enqueue(
                rows.rows(), idempotency_key=key, on_progress=progress.show
            )
        except (AutotuneError, KeyboardInterrupt) as error:
            _say_how_to_go_on(progress, error)
            raise
    for line, request_id in zip(rows.line_numbers, done.request_ids, strict=True):
        if invocation.as_json:
            invocation.show_json({"requestId": request_id, "line": line})
        else:
            typer.echo(request_id)
    note(f"{total - done.replayed} new, {done.replayed} already enqueued")


command(app, "import")(import_file)
command(app)(imports)


@command(app, "list")
def list_(
    invocation: Invocation,
    *,
    filters: RequestFilterOptions,
    limit: Annotated[int, typer.Option(min=1, help="At most this many.")] = 100,
) -> None:
    """List requests without their texts, the youngest first."""
    with naming_options():
        found = invocation.client.llm.list(page_size=page_size(limit), **filters.arguments())
    invocation.show_all(found, _COLUMNS, limit)


@command(app)
def cancel_matching(
    invocation: Invocation, *, filters: RequestFilterOptions, every: AllOfThem = False
) -> None:
    """Cancel all requests that match and have not ended; print their ids, one a line."""
    arguments = filters.required(every=every)
    with naming_options():
        count = invocation.client.llm.cancel_matching(on_page=_print_ids, **arguments)
    note(f"{count} canceled")


@command(app)
def retry_matching(
    invocation: Invocation, *, filters: RequestFilterOptions, every: AllOfThem = False
) -> None:
    """Retry all requests that match, else that ended without an answer; print the new ids.

    The same command again enqueues nothing more.
    """
    arguments = filters.required(every=every)
    with naming_options():
        count = invocation.client.llm.retry_matching(on_page=_print_ids, **arguments)
    note(f"{count} enqueued")


@command(app)
def show(
    invocation: Invocation,
    request_id: str,
    *,
    wait: Annotated[
        int, typer.Option(min=0, max=MAX_WAIT_SECONDS, help="Seconds to wait for its end.")
    ] = 0,
    follow: Annotated[
        bool,
        typer.Option(
            "--follow",
            help="Show the last of those that it was asked again as, for a verdict that cannot be "
            "read.",
        ),
    ] = False,
) -> None:
    """Show a request with its texts and attempts."""
    found = invocation.client.llm.get(request_id, wait=wait)
    while follow and found.reasked_as is not None:
        found = invocation.client.llm.get(found.reasked_as, wait=wait)
    invocation.show(found)
    if found.reasked_as is not None:
        note(f"it was asked again as {found.reasked_as}; --follow shows the last of them")


command(app)(wait)
command(app)(results)


@command(app)
def cancel(invocation: Invocation, what: RowIds) -> None:
    """Cancel requests; what was asked is paid, and its answer is kept."""
    client = invocation.client.llm
    invocation.show_all((client.cancel(one) for one in row_ids(what)), _COLUMNS)


@command(app)
def retry(invocation: Invocation, what: RowIds) -> None:
    """Enqueue requests that have ended once more; print the ids of the new ones, one a line."""
    for one in row_ids(what):
        again = invocation.client.llm.retry(one)
        if invocation.as_json:
            invocation.show_json({"requestId": again, "retryOf": one})
        else:
            typer.echo(again)


command(app)(parse)
command(app)(parse_matching)
command(app)(parses)


@command(app)
def delete_content(invocation: Invocation, request_id: str) -> None:
    """Delete what a request that has ended asked and was answered; what it cost stays."""
    invocation.client.llm.delete_content(request_id)
    invocation.show_deleted(request_id)


@command(app)
def batches(
    invocation: Invocation,
    *,
    needs_operator: Annotated[
        bool,
        typer.Option("--needs-operator", help="Only those that do not go on by themselves."),
    ] = False,
    differs: Annotated[
        bool,
        typer.Option("--differs", help="Only those charged otherwise than their provider reports."),
    ] = False,
    limit: Limit = None,
) -> None:
    """List batches, the youngest first."""
    found = invocation.client.llm.batches.list(
        needs_operator=needs_operator, differs=differs, page_size=page_size(limit)
    )
    invocation.show_all(found, _BATCHES, limit)


@command(app)
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


@command(app)
def cancel_batch(invocation: Invocation, batch_id: str) -> None:
    """Cancel what a batch has not asked yet; what was asked is paid, and its answer is kept."""
    invocation.show(invocation.client.llm.batches.cancel(batch_id))


@command(app)
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


command(app)(costs)
command(app)(estimate)
command(app)(budget)


def _print_ids(ids: list[str]) -> None:
    for one in ids:
        typer.echo(one)


def _say_how_to_go_on(progress: CountProgress, error: AutotuneError | KeyboardInterrupt) -> None:
    if isinstance(error, KeyboardInterrupt) or exit_code_of(error) == exit_codes.UNAVAILABLE:
        progress.print_line("run the same command again to go on")
