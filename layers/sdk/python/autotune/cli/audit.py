"""``autotune audit``: what was called and what was decided in the organisation."""

from datetime import datetime
from typing import Annotated

import typer

from autotune.cli.invocation import TIME_FORMATS, Columns, Invocation, page_size
from autotune.protocol.audit import AuditedCall, AuditEntry


def _outcome(entry: AuditEntry) -> str:
    if isinstance(entry, AuditedCall):
        return f"{entry.status} {entry.code or ''}".rstrip()
    return ", ".join(f"{len(some.completion_ids)} {some.state}" for some in entry.verdicts)


_COLUMNS: Columns[AuditEntry] = {
    "TIME": lambda entry: f"{entry.time:%Y-%m-%d %H:%M:%S}",
    "ACTION": lambda entry: entry.action,
    "BY": lambda entry: entry.principal_id if isinstance(entry, AuditedCall) else entry.grader_id,
    "OUTCOME": _outcome,
    "OF": lambda entry: (
        " ".join(entry.ids.values()) if isinstance(entry, AuditedCall) else entry.batch_id
    ),
    "REQUEST": lambda entry: entry.request_id if isinstance(entry, AuditedCall) else None,
    "FROM": lambda entry: entry.source_address if isinstance(entry, AuditedCall) else None,
}


def audit(
    invocation: Invocation,
    since: Annotated[
        datetime | None,
        typer.Option(
            formats=TIME_FORMATS,
            help="From this time on, at most 90 days ago; else a day before the end.",
        ),
    ] = None,
    until: Annotated[
        datetime | None, typer.Option(formats=TIME_FORMATS, help="The latest time; else now.")
    ] = None,
    principal_id: Annotated[str | None, typer.Option(help="Only this principal's calls.")] = None,
    action: Annotated[
        str | None, typer.Option(help="Only this, such as create_task or decide_completions.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="At most this many.")] = 100,
) -> None:
    """List what was called and decided, the newest first; times without a zone are local."""
    found = invocation.client.audit.list(
        since=since,
        until=until,
        principal_id=principal_id,
        action=action,
        page_size=page_size(limit),
    )
    invocation.show_all(found, _COLUMNS, limit)
