"""``autotune audit``: what was called, decided and happened in the organisation."""

from datetime import datetime
from typing import Annotated

import typer

from autotune.cli.invocation import TIME_FORMATS, Columns, Invocation, page_size
from autotune.protocol.audit import AuditedCall, AuditedDecision, AuditEntry


def _outcome(entry: AuditEntry) -> str:
    if isinstance(entry, AuditedCall):
        return f"{entry.status} {entry.code or ''}".rstrip()
    if isinstance(entry, AuditedDecision):
        return ", ".join(f"{len(some.completion_ids)} {some.state}" for some in entry.verdicts)
    said = (entry.data.get(name) for name in ("scope", "period", "kind", "version"))
    return " ".join(str(value) for value in said if value is not None)


def _by(entry: AuditEntry) -> str | None:
    if isinstance(entry, AuditedCall):
        return entry.principal_id
    return entry.grader_id if isinstance(entry, AuditedDecision) else None


def _of(entry: AuditEntry) -> str:
    if isinstance(entry, AuditedCall):
        return " ".join(entry.ids.values())
    if isinstance(entry, AuditedDecision):
        return entry.batch_id
    return str(entry.data.get("taskId") or entry.data.get("name") or entry.event_id)


_COLUMNS: Columns[AuditEntry] = {
    "TIME": lambda entry: f"{entry.time:%Y-%m-%d %H:%M:%S}",
    "ACTION": lambda entry: entry.action,
    "BY": _by,
    "OUTCOME": _outcome,
    "OF": _of,
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
        str | None,
        typer.Option(help="Only this, such as create_task or budget_warning."),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="At most this many.")] = 100,
) -> None:
    """List what was called, decided or happened, newest first; times without a zone are local."""
    found = invocation.client.audit.list(
        since=since,
        until=until,
        principal_id=principal_id,
        action=action,
        page_size=page_size(limit),
    )
    invocation.show_all(found, _COLUMNS, limit)
