"""Waits for an export, downloads it, and prints what is in it and what was left out."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote

from pydantic import ValidationError

from autotune.cli import exit_codes
from autotune.cli.exit_codes import exit_code_of
from autotune.cli.invocation import Invocation, note, stop
from autotune.cli.progress import ExportProgress
from autotune.client import AutotuneError, DownloadedExport, WaitTimeoutError
from autotune.protocol.exports import ExportCounts, ExportDetails, ExportManifest


def wait_and_download(
    invocation: Invocation, export_id: str, folder: Path, *, timeout: float | None
) -> None:
    """Wait until an export is completed, download it, and print what came of it.

    Args:
        timeout: seconds to wait for its completion; None is for ever.

    Raises:
        typer.Exit: it was not completed in that time, or never will be.
        AutotuneError: as ``exports.wait_for`` and ``exports.download``.
    """
    exports = invocation.client.exports
    with _way_on_printed(export_id, folder), ExportProgress() as progress:
        export = exports.wait_for(export_id, timeout=timeout, on_progress=progress.written)
        if export.state == "completed":
            there = exports.download(export_id, folder, on_progress=progress.fetched)
    if export.state == "canceled":
        stop(f"{export_id} was deleted", exit_codes.INCOMPLETE)
    if export.state == "failed":
        stop(f"{export_id} failed {_reason(export)}", exit_codes.INCOMPLETE)
    _print(invocation, export_id, there)


def _reason(export: ExportDetails) -> str:
    if export.error_code != "too_large":
        return "(platform_error): the fault is Autotune's; make it again"
    limit = export.limit
    size = f"more than {limit.maximum:,} {limit.unit}" if limit else "more than an export may have"
    return f"(too_large): it would have {size}; narrower filters may help"


@contextmanager
def _way_on_printed(export_id: str, folder: Path) -> Iterator[None]:
    """Print how to go on where the command ends, because what was written stays."""
    way_on = f"`autotune exports download {export_id} --out {quote(str(folder))}` goes on from here"
    try:
        yield
    except KeyboardInterrupt:
        note(way_on)
        raise
    except WaitTimeoutError as error:
        note(way_on)
        stop(str(error), exit_codes.INCOMPLETE)
    except AutotuneError as error:
        if exit_code_of(error) != exit_codes.NOT_FOUND:
            note(way_on)
        raise


def _print(invocation: Invocation, export_id: str, there: DownloadedExport) -> None:
    manifest = _manifest_in(there.manifest)
    if invocation.as_json:
        invocation.show_json(
            {
                "exportId": export_id,
                "folder": str(there.folder),
                "manifest": str(there.manifest),
                "parts": [str(part) for part in there.parts],
                "alreadyThere": there.already_there,
                "records": manifest.total_records,
                "counts": manifest.counts.model_dump(by_alias=True),
            }
        )
    summary = f"{manifest.total_records} records in {len(there.parts)} parts in {there.folder}"
    if left_out := _left_out(manifest.counts):
        summary += f"; left out: {left_out}"
    note(summary)
    note(
        f"what was decided from {manifest.as_of:%Y-%m-%dT%H:%M:%SZ} on, or is pending, is not in it"
    )


def _manifest_in(file: Path) -> ExportManifest:
    try:
        return ExportManifest.model_validate_json(file.read_bytes())
    except (OSError, ValidationError) as error:
        stop(f"cannot read {file}: {error}")


def _left_out(counts: ExportCounts) -> str:
    reasons = {
        "abstained": counts.abstained,
        "failed": counts.failed,
        "canceled": counts.canceled,
        "text deleted": counts.text_gone,
        **{reason.replace("_", " "): count for reason, count in counts.skipped.items()},
    }
    return ", ".join(f"{count} {reason}" for reason, count in reasons.items() if count)
