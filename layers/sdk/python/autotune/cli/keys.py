"""``autotune keys``: API keys of the organisation."""

from typing import Annotated

import typer

from autotune.cli.invocation import AsJson, Columns, Invocation, note
from autotune.protocol.access import Key, Role

app = typer.Typer(no_args_is_help=True, help="API keys of the organisation.")

_COLUMNS: Columns[Key] = {
    "ID": lambda key: key.id,
    "NAME": lambda key: key.name,
    "ROLE": lambda key: key.role,
    "PRINCIPAL": lambda key: key.principal_id,
    "STATUS": lambda key: key.status,
    "CREATED": lambda key: f"{key.created_at:%Y-%m-%d %H:%M}",
}


@app.command()
def create(
    ctx: typer.Context,
    name: Annotated[str, typer.Option(help="What the key is for.")],
    role: Annotated[Role, typer.Option(help="What it may do.")],
    principal_id: Annotated[
        str | None,
        typer.Option(help="Whose it is: keys of one principal share what it registers."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Create a key and print it, this once."""
    invocation = Invocation.of(ctx, as_json)
    with invocation.client() as client:
        created = client.keys.create(name=name, role=role, principal_id=principal_id)
    if invocation.as_json:
        invocation.show_json(created)
        return
    invocation.show(created.key)
    note("The key is shown this once; keep it where secrets are kept.")
    typer.echo(f"{'apiKey':<16} {created.api_key}")


@app.command("list")
def list_(ctx: typer.Context, as_json: AsJson = False) -> None:
    """List all keys, revoked ones too."""
    invocation = Invocation.of(ctx, as_json)
    with invocation.client() as client:
        invocation.show_all(client.keys.list(), _COLUMNS)


@app.command()
def me(ctx: typer.Context, as_json: AsJson = False) -> None:
    """Show the key that this command line uses."""
    invocation = Invocation.of(ctx, as_json)
    with invocation.client() as client:
        invocation.show(client.keys.me())


@app.command()
def revoke(ctx: typer.Context, key_id: str, as_json: AsJson = False) -> None:
    """Revoke a key for good."""
    invocation = Invocation.of(ctx, as_json)
    with invocation.client() as client:
        invocation.show(client.keys.revoke(key_id))
