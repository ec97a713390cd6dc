"""``autotune llm import``: a file of requests, uploaded and taken in by the server."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from autotune.cli import exit_codes
from autotune.cli.invocation import Columns, Invocation, note, page_size, require_id, stop
from autotune.cli.progress import ImportProgress
from autotune.client import LlmImport, LlmImportLineError, LocalFileError, WaitTimeoutError
from autotune.protocol.completions import Priority
from autotune.protocol.llm_imports import LlmImportFormat, LlmImportRule, LlmImportState

_DIGEST_CHARACTERS = 32
_COLUMNS: Columns[LlmImport] = {
    "ID": lambda one: one.id,
    "STATE": lambda one: one.state,
    "PURPOSE": lambda one: one.purpose,
    "BYTES": lambda one: one.bytes,
    "ENQUEUED": lambda one: one.counts.enqueued,
    "REJECTED": lambda one: one.counts.rejected,
    "WHY": lambda one: one.error_code or one.waiting_because,
    "CREATED": lambda one: f"{one.created_at:%Y-%m-%d %H:%M:%S}",
}

ImportedFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE.jsonl", exists=True, dir_okay=False, help="JSON lines, up to 200 MB."
    ),
]


@dataclass(frozen=True, kw_only=True)
class ImportOptions:
    """What the lines of a file have in common."""

    format: Annotated[
        LlmImportFormat,
        typer.Option(help="Lines of OpenAI's or Anthropic's batch API, or requests of ours."),
    ]
    connection: Annotated[
        str, typer.Option(help="Where they are asked, unless a line of ours names another.")
    ]
    purpose: Annotated[
        str, typer.Option(help="What they are for, such as scoring, unless a line of ours says it.")
    ]
    on_error: Annotated[
        LlmImportRule,
        typer.Option(
            help="rejectLine leaves out lines that are wrong; rejectAll checks all lines first, "
            "and enqueues none where one is wrong."
        ),
    ] = "rejectLine"
    model: Annotated[str | None, typer.Option(help="Model of lines without one.")] = None
    priority: Annotated[
        Priority | None, typer.Option(help="Priority of lines without one; else normal.")
    ] = None
    defaults: Annotated[
        str | None,
        typer.Option(
            metavar="JSON",
            help='What else lines have that leave it out, such as {"labels": {"run": "7"}}: '
            "verdict, trace, labels, completeBy, retentionDays.",
        ),
    ] = None

    def fields(self) -> dict[str, Any]:
        """Return the arguments of ``client.llm.import_file``."""
        require_id(self.connection, "llc", name="connection", listed_by="llm connections")
        defaults = self._defaults()
        for name, value in (("model", self.model), ("priority", self.priority)):
            if value is not None:
                defaults[name] = value
        return {
            "format": self.format,
            "connection_id": self.connection,
            "purpose": self.purpose,
            "on_error": self.on_error,
            "defaults": defaults or None,
        }

    def _defaults(self) -> dict[str, Any]:
        try:
            defaults = json.loads(self.defaults or "{}")
        except ValueError as error:
            stop(f"--defaults is not JSON: {error}")
        if not isinstance(defaults, dict):
            stop("--defaults is no JSON object")
        return defaults


def import_file(
    invocation: Invocation,
    *,
    file: ImportedFile,
    options: ImportOptions,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write all rejected lines to this file, as JSON lines."),
    ] = None,
    idempotency_key: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Give a new name to import the same file once more, as new requests.",
        ),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(min=0, metavar="SECONDS", help="Stop waiting so long after; it goes on."),
    ] = None,
) -> None:
    """Upload a file of requests, and wait until the server has taken it in.

    The same file, options and --idempotency-key enqueue nothing the second time: after Ctrl-C or an
    error run the same command again. The exit status is 1 unless all lines are enqueued.
    """
    fields = options.fields()
    key = idempotency_key or f"autotune-llm-import.{_digest(file, fields)}"
    with ImportProgress(file.stat().st_size) as progress, _how_to_go_on(progress):
        found = invocation.client.llm.import_file(
            file,
            **fields,
            idempotency_key=key,
            timeout=timeout,
            on_upload=progress.uploaded,
            on_progress=progress.imported,
        )
    if report is not None:
        _write(report, invocation.client.llm.import_errors(found.id))
    _show(invocation, found)
    is_whole = found.state == "completed" and not found.counts.rejected
    raise typer.Exit(exit_codes.OK if is_whole else exit_codes.INCOMPLETE)


def imports(
    invocation: Invocation,
    *,
    state: Annotated[LlmImportState | None, typer.Option(help="Only those in this state.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="At most this many.")] = None,
) -> None:
    """List imports of the last 7 days, the youngest first."""
    found = invocation.client.llm.list_imports(state=state, page_size=page_size(limit))
    invocation.show_all(found, _COLUMNS, limit)


def _show(invocation: Invocation, found: LlmImport) -> None:
    for error in found.errors:
        named = f" ({error.custom_id})" if error.custom_id is not None else ""
        field = f"{error.field}: " if error.field else ""
        note(f"line {error.line}{named}: {field}{error.message}")
    unlisted = found.counts.rejected - len(found.errors)
    if unlisted > 0:
        note(f"and {unlisted} more; --report FILE writes all")
    if found.error_code is not None:
        note(f"the import failed: {found.error_code}")
    # A link to the report opens it for whoever reads the terminal.
    shown = found.model_copy(update={"report": None, "upload": None, "errors": []})
    if invocation.as_json:
        invocation.show_json(shown)
        return
    typer.echo(found.id)
    note(f"{found.counts.enqueued} enqueued, {found.counts.rejected} rejected")


@contextmanager
def _how_to_go_on(progress: ImportProgress) -> Iterator[None]:
    try:
        yield
    except (KeyboardInterrupt, WaitTimeoutError):
        progress.print_line("the server goes on; run the same command again to see what came of it")
        raise


def _write(path: Path, errors: list[LlmImportLineError]) -> None:
    try:
        with path.open("w", encoding="utf-8") as file:
            for error in errors:
                file.write(error.model_dump_json(by_alias=True, exclude_none=True) + "\n")
    except OSError as error:
        raise LocalFileError(path, error) from error


def _digest(file: Path, fields: dict[str, Any]) -> str:
    try:
        with file.open("rb") as opened:
            digest = hashlib.file_digest(opened, "sha256")
    except OSError as error:
        raise LocalFileError(file, error) from error
    digest.update(json.dumps(fields, sort_keys=True).encode())
    return digest.hexdigest()[:_DIGEST_CHARACTERS]
