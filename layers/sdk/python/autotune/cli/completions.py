"""``autotune completions``: one completion and its verdict."""

import typer

from autotune.cli.invocation import AsJson, Invocation

app = typer.Typer(no_args_is_help=True, help="Single completions: verdict, cancel.")


@app.command()
def verdict(ctx: typer.Context, completion_id: str, as_json: AsJson = False) -> None:
    """Show where a completion stands."""
    invocation = Invocation.of(ctx, as_json)
    with invocation.client() as client:
        invocation.show(client.completions.verdict(completion_id))


@app.command()
def cancel(ctx: typer.Context, completion_id: str, as_json: AsJson = False) -> None:
    """Cancel a completion unless it has a verdict, and show where it stands."""
    invocation = Invocation.of(ctx, as_json)
    with invocation.client() as client:
        invocation.show(client.completions.cancel(completion_id))
