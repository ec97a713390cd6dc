"""``client.audit``: what was called and what was decided in the organisation."""

from datetime import datetime
from typing import Unpack

from autotune.client.binding import AsyncResource, ListMethod, Resource
from autotune.client.calls import CallOptions, Listing, listing, returning
from autotune.client.filters import with_zone
from autotune.protocol.audit import AuditEntry, AuditEntryList

_entries = returning(AuditEntryList, lambda page: (page.entries, page.next_token))


def list_entries(
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    principal_id: str | None = None,
    action: str | None = None,
    page_size: int | None = None,
    **options: Unpack[CallOptions],
) -> Listing[AuditEntry]:
    """Walk through the audit log, the newest entry first.

    Args:
        since: the earliest time, included, at most 90 days ago; else a day before ``until``. A
            time without a zone is local.
        until: the latest time, left out; else now.
        principal_id: only calls of this principal.
        action: only entries of this action, such as ``create_task`` or ``decide_completions``.
        page_size: entries fetched at a time, 1 to 200.

    Raises:
        PermissionDeniedError: only an ``admin`` reads it.
    """
    return listing(
        "audit",
        read=_entries,
        page_size=page_size,
        query={
            "from": _moment(since),
            "to": _moment(until),
            "principalId": principal_id,
            "action": action,
        },
        **options,
    )


def _moment(at: datetime | None) -> str | None:
    zoned = with_zone(at)
    return None if zoned is None else zoned.isoformat()


class AuditMethods:
    """Methods of the audit log."""

    list = ListMethod(list_entries)


class Audit(AuditMethods, Resource):
    """The audit log, blocking."""


class AsyncAudit(AuditMethods, AsyncResource):
    """The audit log, for an event loop."""
