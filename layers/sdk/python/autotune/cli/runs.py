"""``autotune runs``: how far the grading of submitted completions has come."""

from typing import Annotated

import typer

from autotune.cli.invocation import Columns, Invocation, command, page_size, require_id
from autotune.protocol.runs import RunState, RunSummary

app = typer.Typer(no_args_is_help=True, help="Runs, each grading up to 100 completions.")

_COLUMNS: Columns[RunSummary] = {
    "ID": lambda run: run.id,
    "STATE": lambda run: run.state,
    "STEP": lambda run: run.step,
    "ATTEMPT": lambda run: run.attempt,
    "LEFT": lambda run: f"{run.remaining}/{run.completions}",
    "LATE": lambda run: run.late_answers,
    "UPDATED": lambda run: f"{run.updated_at:%Y-%m-%d %H:%M:%S}",
    "WHY": lambda run: run.reason_code,
    "SLEEPS UNTIL": lambda run: f"{run.sleep_until:%m-%d %H:%M:%S}" if run.sleep_until else None,
    "GRADER": lambda run: run.grader_id,
}


@command(app, "list")
def list_(
    invocation: Invocation,
    state: Annotated[RunState | None, typer.Option(help="Only those in this state.")] = None,
    grader: Annotated[
        str | None, typer.Option(help="Only those that ask the grader with this id.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="At most this many.")] = 100,
) -> None:
    """List runs of the last 30 days by state, the youngest first."""
    if grader is not None:
        require_id(grader, "grd", name="grader")
    found = invocation.client.runs.list(state=state, grader_id=grader, page_size=page_size(limit))
    invocation.show_all(found, _COLUMNS, limit)


@command(app)
def get(invocation: Invocation, run_id: str) -> None:
    """Show a run with its completions and the counts of their verdicts."""
    invocation.show(invocation.client.runs.get(run_id))


@command(app)
def cancel(invocation: Invocation, run_id: str) -> None:
    """Cancel what is pending in a run, and show it."""
    invocation.show(invocation.client.runs.cancel(run_id))
