"""``autotune export`` and ``autotune exports``: scores as training data."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from autotune.cli.downloading import wait_and_download
from autotune.cli.invocation import Columns, Invocation, command, only_given, page_size, stop
from autotune.cli.scores import ScoreFilters, naming_options
from autotune.protocol.exports import Export, ExportFormat, ExportShape, Pairing
from autotune.protocol.limits import MAX_EXPORT_PAIRS, MAX_EXPORT_SEED, MAX_PAIRED_COMPLETIONS

app = typer.Typer(
    no_args_is_help=True, help="Exports of the last seven days; `autotune export` makes one."
)

_COLUMNS: Columns[Export] = {
    "ID": lambda export: export.id,
    "STATE": lambda export: export.state,
    "SHAPE": lambda export: export.request.shape,
    "FORMAT": lambda export: export.request.format,
    "RECORDS": lambda export: export.progress.records_written,
    "PARTS": lambda export: export.progress.parts,
    "CREATED": lambda export: f"{export.created_at:%Y-%m-%d %H:%M:%S}",
    "EXPIRES": lambda export: f"{export.expires_at:%Y-%m-%d %H:%M}",
    "ERROR": lambda export: export.error_code,
}
_OTHER_THAN_PREFERENCE: dict[str, tuple[ExportShape, ...]] = {
    "threshold": ("unpaired", "stepwise"),
    "separator": ("stepwise",),
}


@dataclass(frozen=True, kw_only=True)
class ShapeOptions:
    """What training data are made of."""

    min_score_delta: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, help="preference: least difference of a pair's scores, above 0; else any."
        ),
    ] = None
    sample_size: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MAX_EXPORT_PAIRS,
            help="preference: most pairs, drawn uniformly from all; else all of them.",
        ),
    ] = None
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=MAX_EXPORT_SEED,
            help="preference: the same data and seed make the same pairs; by default 0.",
        ),
    ] = None
    pairing: Annotated[
        Pairing | None,
        typer.Option(
            help="preference: the best and the worst response to each prompt (by default), or each "
            f"two of up to {MAX_PAIRED_COMPLETIONS}."
        ),
    ] = None
    min_confidence: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, help="preference: least confidence of both scores; by default 0."
        ),
    ] = None
    threshold: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="unpaired, stepwise: from which score on a response or step is good; by default "
            "0.5.",
        ),
    ] = None
    separator: Annotated[
        str | None,
        typer.Option(help="stepwise: what stands between steps; by default the end of a line."),
    ] = None

    def arguments(self, shape: ExportShape) -> dict[str, Any]:
        """Return the argument of ``exports.create`` that holds a shape's options, if any.

        Raises:
            typer.BadParameter: an option is of another shape.
        """
        options = only_given(asdict(self)) or {}
        for name in options:
            shapes_with_it = _OTHER_THAN_PREFERENCE.get(name, ("preference",))
            if shape not in shapes_with_it:
                shapes = " or ".join(f"--shape {one}" for one in shapes_with_it)
                hint = f"--{name.replace('_', '-')}"
                raise typer.BadParameter(f"goes with {shapes}, not {shape}", param_hint=hint)
        return {shape: options} if options else {}


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
        typer.Option(
            help="A record is a score, a pair, a labelled response, labelled steps, or a request "
            "to a language model."
        ),
    ] = "scores",
    filters: ScoreFilters,
    options: ShapeOptions,
    requests: Annotated[
        str | None,
        typer.Option(
            metavar="JSON",
            help="llm_requests: which, and their layout, such as "
            '{"importId": "lim_…", "layout": "openai"}; else all that have ended.',
        ),
    ] = None,
    wait: Annotated[
        bool,
        typer.Option("--wait/--no-wait", help="Wait and download, or print the export and end."),
    ] = True,
    timeout: Timeout = None,
) -> None:
    """Export scores as training data, wait for it, and download it whole and verified.

    What has no score, or no text any more, is in no record; its number is printed. What is pending
    is not counted; `autotune submit` of the same file ends when all is decided. Times without a
    zone are local.
    """
    if wait and out is None:
        raise typer.BadParameter("say where to, or give --no-wait", param_hint="--out")
    if not wait and (out is not None or timeout is not None):
        stop("--out and --timeout are about waiting, which --no-wait does not")
    arguments = filters.arguments() | options.arguments(shape) | _of_requests(requests, shape)
    with naming_options():
        created = invocation.client.exports.create(format=format_, shape=shape, **arguments)
    if out is None:
        invocation.show(created)
    else:
        wait_and_download(invocation, created.id, out, timeout=timeout)


def _of_requests(given: str | None, shape: ExportShape) -> dict[str, Any]:
    if given is None:
        return {}
    if shape != "llm_requests":
        raise typer.BadParameter("goes with --shape llm_requests", param_hint="--requests")
    try:
        options = json.loads(given)
    except ValueError as error:
        raise typer.BadParameter(f"is not JSON: {error}", param_hint="--requests") from error
    if not isinstance(options, dict):
        raise typer.BadParameter("is no JSON object", param_hint="--requests")
    return {"llm_requests": options}


@command(app, "list")
def list_(
    invocation: Invocation,
    limit: Annotated[int | None, typer.Option(min=1, help="At most this many.")] = None,
) -> None:
    """List the organisation's exports, oldest first."""
    found = invocation.client.exports.list(page_size=page_size(limit))
    invocation.show_all(found, _COLUMNS, limit)


@command(app)
def get(invocation: Invocation, export_id: str) -> None:
    """Show an export; with --json also the links to its files, which hold 15 minutes."""
    export = invocation.client.exports.get(export_id)
    if invocation.as_json:
        invocation.show_json(export)
        return
    # A link is a permission: it is not for a terminal's history.
    invocation.show(Export.model_validate(export.model_dump()))


@command(app)
def download(
    invocation: Invocation,
    export_id: str,
    *,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder for parts and manifest; is made if need be.")
    ],
    timeout: Timeout = None,
) -> None:
    """Wait until an export is completed, and download what of it is not in the folder yet."""
    wait_and_download(invocation, export_id, out, timeout=timeout)


@command(app)
def delete(invocation: Invocation, export_id: str) -> None:
    """Delete an export's files, and stop it where it is being written."""
    invocation.client.exports.delete(export_id)
    invocation.show_deleted(export_id)
