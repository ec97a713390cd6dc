"""``autotune sessions``: who is signed in to the console, and ending that."""

import typer

from autotune.cli.invocation import Columns, Invocation, command
from autotune.protocol.sessions import Session

app = typer.Typer(
    no_args_is_help=True, help="Sessions of the console, which `autotune console` begins."
)

_COLUMNS: Columns[Session] = {
    "ID": lambda session: session.id,
    "NAME": lambda session: session.name,
    "ROLE": lambda session: session.role,
    "PRINCIPAL": lambda session: session.principal_id,
    "MADE BY": lambda session: session.key_id or session.issuer,
    "STATUS": lambda session: session.status,
    "CREATED": lambda session: f"{session.created_at:%Y-%m-%d %H:%M}",
    "EXPIRES": lambda session: f"{session.expires_at:%Y-%m-%d %H:%M}",
    "LAST USED": lambda session: (
        f"{session.last_used_at:%Y-%m-%d %H:%M}" if session.last_used_at else None
    ),
}


@command(app, "list")
def list_(invocation: Invocation) -> None:
    """List sessions: all to an admin, to others those of their principal."""
    invocation.show_all(invocation.client.sessions.list(), _COLUMNS)


@command(app)
def revoke(invocation: Invocation, session_id: str) -> None:
    """End a session at once and for good."""
    invocation.show(invocation.client.sessions.revoke(session_id))
