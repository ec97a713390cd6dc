"""``autotune decks capture``: which chat completions become samples of decks."""

from typing import Annotated

import typer

from autotune.cli.invocation import Invocation, command
from autotune.protocol.deck_capture import DeckCapture

app = typer.Typer(
    no_args_is_help=True,
    help="Capture: chat completions through /v1/chat/completions become samples of decks.",
)


@command(app)
def show(invocation: Invocation) -> None:
    """Show which chat completions are captured."""
    _show(invocation, invocation.client.decks.capture.get())


@command(app, name="set")
def set_(
    invocation: Invocation,
    *,
    sampling_rate: Annotated[
        float, typer.Option(min=0, max=1, help="Share of the calls that is captured.")
    ] = 1,
    retention_days: Annotated[
        int | None, typer.Option(help="When samples go; without it, once they are deleted.")
    ] = None,
    redact: Annotated[
        list[str] | None,
        typer.Option(
            metavar="REGEX",
            help="Take out what this regular expression (RE2) finds; may be given several times.",
        ),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Keep this label or metadata; may be given several times."
        ),
    ] = None,
    group_by: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="One of --keep: calls with the same value are in one half of their deck.",
        ),
    ] = None,
) -> None:
    """Capture chat completions, from a minute later on; what is left out is as at first."""
    capture = invocation.client.decks.capture.set(
        enabled=True,
        sampling_rate=sampling_rate,
        retention_days=retention_days,
        redactions=redact or [],
        metadata_names=keep or [],
        group_by=group_by,
    )
    _show(invocation, capture)


@command(app)
def off(invocation: Invocation) -> None:
    """Capture nothing any more; the other settings stay."""
    captures = invocation.client.decks.capture
    before = captures.get()
    capture = captures.set(
        enabled=False,
        sampling_rate=before.sampling_rate,
        retention_days=before.retention_days,
        redactions=before.redactions,
        metadata_names=before.metadata_names,
        group_by=before.group_by,
    )
    _show(invocation, capture)


def _show(invocation: Invocation, capture: DeckCapture) -> None:
    if invocation.as_json:
        invocation.show_json(capture)
    else:
        invocation.show_fields(
            {
                "captures": "on" if capture.enabled else "off",
                "samplingRate": f"{capture.sampling_rate:g}",
                "retentionDays": capture.retention_days,
                "redactions": "  ".join(capture.redactions) or None,
                "metadataNames": ", ".join(capture.metadata_names) or None,
                "groupBy": capture.group_by,
            }
        )
