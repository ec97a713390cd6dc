"""``autotune export``: scores as training data, on this machine."""

from pathlib import Path
from typing import Annotated

import typer

from autotune.cli import export_options, score_filters
from autotune.cli.downloading import wait_and_download
from autotune.cli.invocation import Invocation, stop
from autotune.protocol.exports import ExportFormat, ExportShape

OutFolder = Annotated[
    Path | None,
    typer.Option("--out", "-o", help="Folder for parts and manifest; is made if need be."),
]
Timeout = Annotated[
    float | None,
    typer.Option(
        min=1,
        metavar="SECONDS",
        help="Stop waiting so long after it was created; exit status 1 then. Else no limit.",
    ),
]


def export(
    invocation: Invocation,
    *,
    out: OutFolder = None,
    format_: Annotated[ExportFormat, typer.Option("--format", help="jsonl is gzipped.")] = "jsonl",
    shape: Annotated[
        ExportShape,
        typer.Option(help="A record is a score, a pair, a labelled response or labelled steps."),
    ] = "scores",
    filters: score_filters.ScoreFilters,
    options: export_options.ShapeOptions,
    wait: Annotated[
        bool,
        typer.Option("--wait/--no-wait", help="Wait and download, or print the export and end."),
    ] = True,
    timeout: Timeout = None,
) -> None:
    """Export scores as training data, wait for it, and download it whole and verified.

    What has no score, or no text any more, is in no record, and how much that is is told. What is
    pending is not counted; `autotune submit` of the same file ends when all is decided. Times
    without a zone are local.
    """
    if wait and out is None:
        raise typer.BadParameter("say where to, or give --no-wait", param_hint="--out")
    if not wait and (out is not None or timeout is not None):
        stop("--out and --timeout are about waiting, which --no-wait does not")
    arguments = filters.arguments()
    arguments |= options.arguments(shape)
    with score_filters.naming_options():
        created = invocation.client.exports.create(
            format=format_,
            shape=shape,
            **arguments,
        )
    if out is None:
        invocation.show(created)
    else:
        wait_and_download(invocation, created.id, out, timeout=timeout)
