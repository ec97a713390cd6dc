"""``autotune llm show``: one request, what is asked first about it first."""

from typing import Annotated, Any

import typer

from autotune.cli.invocation import Invocation, note
from autotune.cli.llm_spending import dollars
from autotune.protocol.limits import MAX_WAIT_SECONDS
from autotune.protocol.llm_requests import LlmRequest

_FIRST = (
    "id",
    "status",
    "error",
    "waitingBecause",
    "pausedBecause",
    "rawOutput",
    "verdictText",
    "parsedVerdict",
    "parseError",
    "USD",
)
_EMPTY: tuple[Any, ...] = (None, "", [], {})


def show(
    invocation: Invocation,
    request_id: str,
    *,
    wait: Annotated[
        int, typer.Option(min=0, max=MAX_WAIT_SECONDS, help="Seconds to wait for its end.")
    ] = 0,
    follow: Annotated[
        bool,
        typer.Option(
            "--follow",
            help="Show the last of those that it was asked again as, for a verdict that cannot be "
            "read.",
        ),
    ] = False,
) -> None:
    """Show a request with its texts and attempts, its status and answer first.

    What it does not have is left out without --json. Of one that waits for its connection,
    pausedBecause says what is wrong with that.
    """
    client = invocation.client.llm
    found = client.get(request_id, wait=wait)
    while follow and found.reasked_as is not None:
        found = client.get(found.reasked_as, wait=wait)
    if invocation.as_json:
        invocation.show_json(found)
    else:
        paused_because = None
        if found.waiting_because == "connection_paused":
            paused_because = client.connections.get(found.connection_id).paused_because
        invocation.show_fields(_fields(found, paused_because))
    if found.reasked_as is not None:
        note(f"it was asked again as {found.reasked_as}; --follow shows the last of them")


def _fields(found: LlmRequest, paused_because: str | None) -> dict[str, Any]:
    """Return what it has, status and answer first."""
    fields = {
        **found.model_dump(by_alias=True, mode="json"),
        "pausedBecause": paused_because,
        "USD": dollars(found.cost_nano_usd),
    }
    ordered = [*_FIRST, *(name for name in fields if name not in _FIRST)]
    return {name: fields[name] for name in ordered if fields[name] not in _EMPTY}
