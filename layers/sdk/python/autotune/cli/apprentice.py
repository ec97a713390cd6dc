"""``autotune apprentice``: tasks that a paid model answers until a small one does as well."""

from pathlib import Path
from typing import Annotated, NoReturn

import typer

from autotune.cli import (
    apprentice_certificates,
    apprentice_examples,
    apprentice_reports,
    apprentice_runs,
    apprentice_trainings,
    apprentice_versions,
    exit_codes,
)
from autotune.cli.apprentice_applying import PartlyAppliedError, carry_out, make_plan
from autotune.cli.deck_reading import text_in
from autotune.cli.invocation import Columns, Invocation, command, note, page_size
from autotune.cli.llm_spending import dollars
from autotune.client.apprentice_files.faults import ApprenticeFileError
from autotune.client.apprentice_files.reading import parse_apprentice_file
from autotune.protocol.apprentice_pairs import ApprenticeVersionPair
from autotune.protocol.apprentice_spend import ApprenticeSpend
from autotune.protocol.apprentice_tasks import ApprenticeConfiguration, ApprenticeTaskSummary
from autotune.protocol.limits import MAX_APPRENTICE_CONFIGURATIONS, MAX_APPRENTICE_VERSIONS

app = typer.Typer(
    no_args_is_help=True,
    help="Tasks that a paid model answers, until a small one answers them as well.",
)
app.add_typer(apprentice_versions.app, name="versions")
app.add_typer(apprentice_examples.app, name="examples")

_COLUMNS: Columns[ApprenticeTaskSummary] = {
    "NAME": lambda one: one.name,
    "VERSION": lambda one: one.version,
    "UPDATED": lambda one: f"{one.updated_at:%Y-%m-%d %H:%M}",
    "DESCRIPTION": lambda one: one.description,
}

_CONFIGURATIONS: Columns[ApprenticeConfiguration] = {
    "VERSION": lambda one: one.version,
    "DEFINITION": lambda one: one.definition_hash[:12],
    "MADE": lambda one: f"{one.created_at:%Y-%m-%d %H:%M}",
    "BY": lambda one: one.created_by,
}

_PAIRS: Columns[ApprenticeVersionPair] = {
    "PAIR": lambda one: one.sequence,
    "SCORE": lambda one: f"{one.score:.3f}",
    "DRAWN": lambda one: "yes" if one.is_drawn else "no",
    "RUN": lambda one: one.run_id,
    "AT": lambda one: f"{one.at:%Y-%m-%d %H:%M:%S}",
}


@command(app)
def apply(
    invocation: Invocation,
    *,
    config: Annotated[
        Path, typer.Option(metavar="FILE", help="What to bring tasks to; - reads stdin.")
    ] = Path("apprentice.yaml"),
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would change, and change nothing.")
    ] = False,
) -> None:
    """Bring tasks to what a file says; print for each what changed.

    A task that is new is made, one that differs gets the next version of its configuration, and
    what is the same stays: running it again changes nothing. Tasks that the file has not stay.
    """
    try:
        file = parse_apprentice_file(text_in(config), source=str(config))
        plan = make_plan(invocation.client, file)
        changes = plan.changes() if dry_run else carry_out(invocation.client, plan)
    except ApprenticeFileError as error:
        _refuse(error)
    for key in plan.keys:
        note(f"connection {key.source.connection_name}: {key.change}")
    if invocation.as_json:
        for one in changes:
            invocation.show_json({**one.as_json, "dryRun": dry_run})
        return
    for one in changes:
        typer.echo(str(one))
    if dry_run:
        note("nothing was changed")


@command(app)
def tasks(invocation: Invocation) -> None:
    """List all tasks by name."""
    invocation.show_all(invocation.client.apprentice_tasks.list(), _COLUMNS)


@command(app)
def show(
    invocation: Invocation,
    name: str,
    *,
    version: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MAX_APPRENTICE_CONFIGURATIONS,
            help="Of its configuration; else the present one.",
        ),
    ] = None,
) -> None:
    """Show a task with its configuration."""
    tasks_ = invocation.client.apprentice_tasks
    shown = tasks_.get(name) if version is None else tasks_.configuration(name, version)
    if invocation.as_json:
        invocation.show_json(shown)
        return
    fields = shown.model_dump(mode="json", by_alias=True)
    configuration = fields.pop("configuration")
    spend = getattr(shown, "spend", None)
    if spend is not None:
        fields["spend"] = _spend(spend)
    invocation.show_fields({**fields, **configuration})


@command(app)
def configurations(
    invocation: Invocation,
    name: str,
    *,
    limit: Annotated[int, typer.Option(min=1, help="At most so many.")] = 50,
) -> None:
    """List versions of a task's configuration, newest first; `show --version` has one of them.

    Evidence is of a definition: it goes on with a version that has the same one.
    """
    found = invocation.client.apprentice_tasks.configurations(name, page_size=page_size(limit))
    invocation.show_all(found, _CONFIGURATIONS, limit)


command(app)(apprentice_runs.run)
command(app)(apprentice_runs.runs)
command(app)(apprentice_runs.delete_content)
command(app)(apprentice_trainings.train)
command(app)(apprentice_trainings.trainings)
command(app)(apprentice_trainings.cancel_training)
command(app)(apprentice_trainings.host_training)
command(app)(apprentice_certificates.certificate)
command(app)(apprentice_reports.status)
command(app)(apprentice_reports.report)
command(app)(apprentice_reports.estimate)


@command(app)
def pairs(
    invocation: Invocation,
    name: str,
    *,
    version: Annotated[
        int, typer.Option(min=1, max=MAX_APPRENTICE_VERSIONS, help="Of the small model.")
    ],
    limit: Annotated[int, typer.Option(min=1, help="At most this many.")] = 100,
) -> None:
    """List what a version's evidence is made of, newest first: how far it agreed, on which run."""
    found = invocation.client.apprentice_tasks.pairs(
        name, version=version, page_size=page_size(limit)
    )
    invocation.show_all(found, _PAIRS, limit)


@command(app)
def delete(invocation: Invocation, name: str) -> None:
    """Delete a task with all versions of its configuration."""
    invocation.client.apprentice_tasks.delete(name)
    invocation.show_deleted(name)


def _spend(spend: ApprenticeSpend) -> str:
    """Return what present periods have used of their limits, and whether paid calls go on."""
    used = []
    for one in spend.periods:
        most = "" if one.limit_nano_usd is None else f" of {dollars(one.limit_nano_usd)}"
        under_way = f", {dollars(one.reserved_nano_usd)} reserved" if one.reserved_nano_usd else ""
        used.append(f"{one.name}: {dollars(one.spent_nano_usd)}{most} USD{under_way}")
    if spend.halted_because is not None:
        used.append(
            f"halted: request {spend.halted_by} cost more than it can have; other budgets have "
            "paid calls go on"
        )
    return "; ".join(used)


def _refuse(error: ApprenticeFileError) -> NoReturn:
    """End with each fault on a line of its own."""
    for line in error.lines:
        note(line)
    if isinstance(error, PartlyAppliedError) and error.done:
        note(f"done before: {'; '.join(map(str, error.done))}")
    else:
        note("autotune: no task was changed")
    raise typer.Exit(exit_codes.USAGE)
