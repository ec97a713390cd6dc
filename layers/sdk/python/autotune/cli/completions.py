"""``autotune completions``: one completion and its verdict."""

from typing import Annotated

import typer

from autotune.cli.invocation import Columns, Invocation, command, note
from autotune.protocol.explanations import WaitsFor
from autotune.protocol.timelines import TimelineEntry

app = typer.Typer(no_args_is_help=True, help="Single completions: verdict, cancel, delete.")


_WAITS_FOR: dict[WaitsFor, str] = {
    "next_attempt": "waits for its next attempt",
    "limit": "waits for the grader's limits",
    "circuit": "waits for the grader, which is down",
    "callback": "waits for the grader's callback",
    "model": "waits for a language model",
    "person": "waits for a person",
}
_COLUMNS: Columns[TimelineEntry] = {
    "AT": lambda entry: f"{entry.at:%Y-%m-%d %H:%M:%S}",
    "WHAT": lambda entry: entry.kind.replace("_", " "),
    "STATE": lambda entry: entry.state,
    "SCORE": lambda entry: None if entry.value is None else f"{entry.value:.3f}",
    "WHY": lambda entry: entry.reason_code or entry.waits_for,
    "GRADER": lambda entry: entry.grader_id,
    "RUN": lambda entry: entry.run_id,
}


@command(app)
def verdict(
    invocation: Invocation,
    completion_id: str,
    *,
    generation: Annotated[
        int | None,
        typer.Option(min=0, help="An earlier one, where it was scored again: 0 is the first."),
    ] = None,
) -> None:
    """Show where a completion stands."""
    invocation.show(invocation.client.completions.verdict(completion_id, generation=generation))


@command(app)
def timeline(invocation: Invocation, completion_id: str) -> None:
    """Show what happened to a completion, oldest first, and what it waits for."""
    found = invocation.client.completions.timeline(completion_id)
    if invocation.as_json:
        invocation.show_json(found)
        return
    invocation.show_all(found.timeline, _COLUMNS)
    if found.until is not None:
        waits_for = _WAITS_FOR[found.waits_for] if found.waits_for else "is queued, or asked about"
        note(f"{waits_for}, until {found.until:%Y-%m-%d %H:%M:%S} at most")
    for one in found.forgotten:
        note(f"{one.what} before {one.before:%Y-%m-%d} are not stored any more")


@command(app)
def cancel(invocation: Invocation, completion_id: str) -> None:
    """Cancel a completion unless it has a verdict, and show where it stands."""
    invocation.show(invocation.client.completions.cancel(completion_id))


@command(app)
def delete(invocation: Invocation, completion_id: str) -> None:
    """Delete a completion's text; its verdict stays, or is canceled if it had none."""
    invocation.client.completions.delete(completion_id)
    invocation.show_deleted(completion_id)
