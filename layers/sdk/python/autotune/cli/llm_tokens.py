"""``autotune llm tokens``: what programs that know OpenAI's API take as their key."""

from datetime import datetime
from functools import partial
from typing import Annotated

import typer

from autotune.cli.invocation import TIME_FORMATS, Columns, Invocation, command, require_id
from autotune.cli.llm_words import naming_options
from autotune.protocol.llm_tokens import LlmToken, LlmTokenScope

app = typer.Typer(
    no_args_is_help=True, help="Tokens with which the openai package asks a connection, or a task."
)

_command = partial(command, app, within=naming_options)

_COLUMNS: Columns[LlmToken] = {
    "ID": lambda one: one.id,
    "NAME": lambda one: one.name,
    "CONNECTION": lambda one: one.connection_id,
    "TASK": lambda one: one.apprentice_task,
    "SCOPES": lambda one: ",".join(one.scopes),
    "STATE": lambda one: one.state,
    "ENDS WITH": lambda one: one.ends_with,
    "CREATED": lambda one: f"{one.created_at:%Y-%m-%d %H:%M}",
    "RETENTION": lambda one: one.retention_days and f"{one.retention_days} days",
    "EXPIRES": lambda one: f"{one.expires_at:%Y-%m-%d %H:%M}" if one.expires_at else None,
}


@_command()
def create(
    invocation: Invocation,
    *,
    name: Annotated[str, typer.Option(help="What it is for.")],
    connection: Annotated[
        str | None, typer.Option(help="The connection that is asked, and paid.")
    ] = None,
    apprentice_task: Annotated[
        str | None, typer.Option(help="In its place the task of the apprentice that is asked.")
    ] = None,
    purpose: Annotated[
        str | None,
        typer.Option(help="What requests to a connection are for; else openai_batch."),
    ] = None,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="It reads files and batches, and makes none.")
    ] = False,
    expires_at: Annotated[
        datetime | None,
        typer.Option(
            formats=TIME_FORMATS,
            help="When it stops working, local time without a zone; else once it is revoked.",
        ),
    ] = None,
    retention_days: Annotated[
        int | None,
        typer.Option(help="Days after which texts of its requests go; else they stay."),
    ] = None,
) -> None:
    """Make a token and print it, this once."""
    if connection is not None:
        require_id(connection, "llc", name="connection", listed_by="llm connections")
    scopes: list[LlmTokenScope] = ["read"] if read_only else ["read", "write"]
    created = invocation.client.llm.tokens.create(
        name=name,
        connection_id=connection,
        apprentice_task=apprentice_task,
        purpose=purpose,
        scopes=scopes,
        expires_at=expires_at,
        retention_days=retention_days,
    )
    warning = "The secret is shown this once; who has it may spend, so keep it where secrets are."
    invocation.show_once(created, created.llm_token, {"secret": created.secret}, warning)


@_command("list")
def list_(invocation: Invocation) -> None:
    """List all tokens, revoked ones too, without what lets in."""
    invocation.show_all(invocation.client.llm.tokens.list(), _COLUMNS)


@_command()
def get(invocation: Invocation, token_id: str) -> None:
    """Show one token, without what lets in."""
    invocation.show(invocation.client.llm.tokens.get(token_id))


@_command()
def revoke(invocation: Invocation, token_id: str) -> None:
    """Revoke a token at once and for good."""
    invocation.show(invocation.client.llm.tokens.revoke(token_id))
