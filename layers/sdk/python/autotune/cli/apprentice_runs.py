"""``autotune apprentice run`` and ``runs``: having a task answer, and what it answered."""

import json
from datetime import date, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from autotune.cli.deck_reading import text_in
from autotune.cli.invocation import Columns, Invocation, page_size, stop
from autotune.client import APIError
from autotune.protocol.apprentice_runs import (
    ApprenticeRouting,
    ApprenticeRun,
    ApprenticeRunState,
)
from autotune.protocol.limits import MAX_APPRENTICE_WAIT_SECONDS

Day = datetime | None
Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the task.")]


def _small_model(routing: ApprenticeRouting | None) -> str | None:
    """Return what came of the version that was asked, and why there is no answer."""
    if routing is None:
        return None
    why = "" if routing.local_fault is None else f" ({routing.local_fault})"
    return None if routing.local is None else f"{routing.local}{why}"


_RUNS: Columns[ApprenticeRun] = {
    "ID": lambda one: one.id,
    "CREATED": lambda one: f"{one.created_at:%Y-%m-%d %H:%M:%S}",
    "STATE": lambda one: one.state,
    "PHASE": lambda one: one.routing and one.routing.phase,
    "ANSWERED BY": lambda one: one.routing and one.routing.answers,
    "SMALL MODEL": lambda one: _small_model(one.routing),
    "WHY NOT": lambda one: one.error and one.error.code,
}


def _option(help_: str, *names: str) -> Any:
    return typer.Option(*names, formats=["%Y-%m-%d"], help=help_)


def run(
    invocation: Invocation,
    name: Name,
    *,
    given: Annotated[
        str,
        typer.Option(
            "--input",
            metavar="JSON|@FILE|-",
            help="The input: JSON, a file of it, or - for stdin.",
        ),
    ],
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Wait for the answer, or print the id.")
    ] = True,
    idempotency_key: Annotated[
        str | None, typer.Option(help="Stands for this run: sent again, it starts no other.")
    ] = None,
) -> None:
    """Have a task answer an input, and print the answer as JSON."""
    try:
        found = invocation.client.apprentice.run(
            name,
            input=_read(given),
            wait=MAX_APPRENTICE_WAIT_SECONDS if wait else 0,
            idempotency_key=idempotency_key,
        )
    except APIError as error:
        if error.code == "idempotency_key_reused":
            stop("--idempotency-key: it came before with another input; give another key")
        raise
    if invocation.as_json:
        invocation.show_json(found)
    elif found.output is not None:
        typer.echo(json.dumps(found.output, ensure_ascii=False))
    else:
        typer.echo(found.id)


def runs(
    invocation: Invocation,
    name: Annotated[str, typer.Argument(metavar="NAME|ID", help="A task, or one of its runs.")],
    *,
    day: Annotated[Day, _option("Of this day in UTC; else of today.")] = None,
    first: Annotated[Day, _option("From this day on, at most 92 in all.", "--from")] = None,
    last: Annotated[Day, _option("To this day, included; else to today.", "--to")] = None,
    state: Annotated[ApprenticeRunState | None, typer.Option(help="Only those.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many.")] = None,
) -> None:
    """List a task's runs of some days, newest first, or show one with its answer."""
    client = invocation.client
    if name.startswith("apr_"):
        invocation.show(client.apprentice.get_run(name))
        return
    found = client.apprentice.runs(
        name,
        day=_date(day),
        first=_date(first),
        last=_date(last),
        state=state,
        page_size=page_size(limit),
    )
    invocation.show_all(found, _RUNS, limit)


def delete_content(
    invocation: Invocation,
    run_id: Annotated[str, typer.Argument(metavar="ID", help="A run that has ended.")],
) -> None:
    """Delete what a run was asked and answered, and its example; what it cost stays."""
    invocation.client.apprentice.delete_run_content(run_id)
    invocation.show_deleted(run_id)


def _date(day: Day) -> date | None:
    return None if day is None else day.date()


def _read(given: str) -> dict[str, Any]:
    """Return the input that an option says."""
    text = given
    if given == "-" or given.startswith("@"):
        text = text_in(Path(given.removeprefix("@")))
    try:
        found = json.loads(text)
    except ValueError as error:
        stop(f"--input: expected JSON: {error}")
    if not isinstance(found, dict):
        stop("--input: expected a JSON object")
    return found
