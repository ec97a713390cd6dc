"""``autotune exports``: the exports that there are."""

from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from autotune.cli.downloading import wait_and_download
from autotune.cli.export import Timeout
from autotune.cli.invocation import Columns, Invocation, command, page_size
from autotune.protocol.exports import Export

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


@command(app, "list")
def list_(
    invocation: Invocation,
    limit: Annotated[int | None, typer.Option(min=1, help="At most this many.")] = None,
) -> None:
    """List the organisation's exports, oldest first."""
    found = invocation.client.exports.list(page_size=page_size(limit))
    invocation.show_all(islice(found, limit), _COLUMNS)


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
