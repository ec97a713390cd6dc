"""``autotune completions``: one completion and its verdict."""

from typing import Annotated

import typer

from autotune.cli.invocation import Invocation, command

app = typer.Typer(no_args_is_help=True, help="Single completions: verdict, cancel, delete.")


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
def cancel(invocation: Invocation, completion_id: str) -> None:
    """Cancel a completion unless it has a verdict, and show where it stands."""
    invocation.show(invocation.client.completions.cancel(completion_id))


@command(app)
def delete(invocation: Invocation, completion_id: str) -> None:
    """Delete a completion's text; its verdict stays, or is canceled if it had none."""
    invocation.client.completions.delete(completion_id)
    invocation.show_deleted(completion_id)
