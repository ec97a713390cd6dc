"""``autotune keys``: API keys of the organisation."""

import json
from datetime import datetime
from typing import Annotated

import typer

from autotune.cli.invocation import TIME_FORMATS, Columns, Invocation, command
from autotune.cli.revoking import revoke_with_made
from autotune.client.filters import with_zone
from autotune.protocol.access import Key, Role

app = typer.Typer(no_args_is_help=True, help="API keys of the organisation.")

_COLUMNS: Columns[Key] = {
    "ID": lambda key: key.id,
    "NAME": lambda key: key.name,
    "ROLE": lambda key: key.role,
    "PRINCIPAL": lambda key: key.principal_id,
    "STATUS": lambda key: key.status,
    "CREATED": lambda key: f"{key.created_at:%Y-%m-%d %H:%M}",
    "EXPIRES": lambda key: f"{key.expires_at:%Y-%m-%d %H:%M}" if key.expires_at else None,
    "LAST USED": lambda key: f"{key.last_used_at:%Y-%m-%d %H:%M}" if key.last_used_at else None,
}


@command(app)
def create(
    invocation: Invocation,
    name: Annotated[str, typer.Option(help="What the key is for.")],
    role: Annotated[Role, typer.Option(help="What it may do.")],
    principal_id: Annotated[
        str | None, typer.Option(help="Whose it is: keys of one principal share what it registers.")
    ] = None,
    expires_at: Annotated[
        datetime | None,
        typer.Option(
            formats=TIME_FORMATS,
            help="When it stops working, local time without a zone; else once it is revoked.",
        ),
    ] = None,
) -> None:
    """Create a key and print it, this once."""
    created = invocation.client.keys.create(
        name=name, role=role, principal_id=principal_id, expires_at=with_zone(expires_at)
    )
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
def rename(invocation: Invocation, key_id: str, name: str) -> None:
    """Give a key another name."""
    invocation.show(invocation.client.keys.rename(key_id, name=name))


@command(app)
def revoke(
    invocation: Invocation,
    key_id: str,
    with_made: Annotated[
        bool,
        typer.Option(
            "--with-made",
            help="With what it made: keys and what they made, URLs, webhooks, links.",
        ),
    ] = False,
) -> None:
    """Revoke a key for good."""
    if not with_made:
        invocation.show(invocation.client.keys.revoke(key_id))
        return
    for gone in revoke_with_made(invocation.client, key_id):
        if invocation.as_json:
            typer.echo(json.dumps({"id": gone.id, "what": gone.what}))
        else:
            typer.echo(f"{gone.what:<12} {gone.id}")
