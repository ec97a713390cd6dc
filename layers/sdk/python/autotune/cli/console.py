"""``autotune console``: opens the web pages, signed in with the role of the key."""

import webbrowser
from typing import Annotated

import typer

from autotune.cli.invocation import Invocation, note
from autotune.protocol.limits import (
    DEFAULT_SESSION_MINUTES,
    MAX_SESSION_MINUTES,
    MIN_SESSION_MINUTES,
)


def console(
    invocation: Invocation,
    minutes: Annotated[
        int,
        typer.Option(
            min=MIN_SESSION_MINUTES,
            max=MAX_SESSION_MINUTES,
            help="When the session ends; it ends with the key at the latest.",
        ),
    ] = DEFAULT_SESSION_MINUTES,
    name: Annotated[
        str | None, typer.Option(help="What the session is called; else as the key is.")
    ] = None,
    print_url: Annotated[
        bool, typer.Option("--print", help="Print the address instead of opening a browser.")
    ] = False,
) -> None:
    """Open the console in a browser, signed in with the role of the key.

    The address works once, within five minutes. `autotune sessions` lists and ends sessions.
    """
    made = invocation.client.sessions.create(name=name, expires_in_minutes=minutes)
    if invocation.as_json:
        invocation.show_json(made)
        return
    if print_url:
        typer.echo(made.url)
        return
    if webbrowser.open(made.url):
        note(f"opened the console; the session {made.session.id} lasts {minutes} minutes")
        return
    note("no browser could be opened; this address works once, within five minutes:")
    typer.echo(made.url)
