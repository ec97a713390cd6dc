"""``autotune keys``: API keys of the organisation."""

from typing import Annotated

import typer

from autotune.cli.invocation import Columns, Invocation, command
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


@command(app)
def create(
    invocation: Invocation,
    name: Annotated[str, typer.Option(help="What the key is for.")],
    role: Annotated[Role, typer.Option(help="What it may do.")],
    principal_id: Annotated[
        str | None, typer.Option(help="Whose it is: keys of one principal share what it registers.")
    ] = None,
) -> None:
    """Create a key and print it, this once."""
    created = invocation.client.keys.create(name=name, role=role, principal_id=principal_id)
    warning = "The key is shown this once; keep it where secrets are kept."
    invocation.show_once(created, created.key, {"apiKey": created.api_key}, warning)


@command(app, "list")
def list_(invocation: Invocation) -> None:
    """List all keys, revoked ones too."""
    invocation.show_all(invocation.client.keys.list(), _COLUMNS)


@command(app)
def me(invocation: Invocation) -> None:
    """Show the key that this command line uses."""
    invocation.show(invocation.client.keys.me())


@command(app)
def revoke(invocation: Invocation, key_id: str) -> None:
    """Revoke a key for good."""
    invocation.show(invocation.client.keys.revoke(key_id))
