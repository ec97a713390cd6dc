"""``autotune llm delete-content`` and the same by filter."""

import typer

from autotune.cli.invocation import Invocation, note
from autotune.cli.llm_filters import AllOfThem, RequestFilterOptions
from autotune.cli.scores import naming_options


def delete_content(invocation: Invocation, request_id: str) -> None:
    """Delete what a request that has ended asked and was answered; what it cost stays."""
    invocation.client.llm.delete_content(request_id)
    invocation.show_deleted(request_id)


def delete_content_matching(
    invocation: Invocation, *, filters: RequestFilterOptions, every: AllOfThem = False
) -> None:
    """Delete the texts of all requests that match and have ended; print their ids, one a line.

    Lists, tokens and costs stay. The same command again changes nothing.
    """
    arguments = filters.required(every=every)
    with naming_options():
        count = invocation.client.llm.delete_content_matching(on_page=_print_ids, **arguments)
    note(f"texts of {count} deleted")


def _print_ids(ids: list[str]) -> None:
    for one in ids:
        typer.echo(one)
