"""Reading the audit log: one organisation, the newest first, at most 90 days back."""

from datetime import UTC, date, datetime, timedelta

from autotune.protocol.audit import AuditedCall, AuditEntry
from autotune.protocol.limits import MAX_AUDIT_DAYS
from autotune_platform.access.models import Caller
from autotune_platform.audit.repository import AuditRepository
from autotune_platform.runtime.clock import SYSTEM_CLOCK
from autotune_platform.runtime.errors import InvalidRequestError
from autotune_platform.storage.cursors import decode_cursor, encode_cursor, invalid_cursor

_DEFAULT_SPAN = timedelta(days=1)
# What a filter or empty days leave out must not make one request read a whole quarter.
_MOST_QUERIES = 10
_FILTERED_PAGE = 200


class AuditListing:
    """Lists an organisation's entries."""

    def __init__(self, *, repository: AuditRepository) -> None:
        self._repository = repository

    def page(
        self,
        caller: Caller,
        *,
        since: datetime | None,
        until: datetime | None,
        principal_id: str | None,
        action: str | None,
        limit: int,
        next_token: str | None,
    ) -> tuple[list[AuditEntry], str | None]:
        """Return a page of entries; it may be short, even empty, while its token leads to more.

        Args:
            since: the earliest time, included; by default a day before ``until``.
            until: the latest time, left out; by default now.

        Raises:
            InvalidRequestError: the range is empty or goes back over 90 days, or ``next_token`` is
                not from this list.
        """
        first, last = _range(since, until)
        day, after = last.date(), None
        if next_token is not None:
            # From the token, because a day before "now" is another moment for each page.
            day, after, first = _position(next_token, last)
        filtered = principal_id is not None or action is not None
        found: list[AuditEntry] = []
        for _ in range(_MOST_QUERIES):
            if day < first.date():
                return found, None
            entries, is_all = self._repository.newest(
                caller.organization_id,
                day,
                since=first,
                until=last,
                after=after,
                limit=_FILTERED_PAGE if filtered else limit - len(found),
            )
            for position, entry in entries:
                after = position
                if _matches(entry, principal_id, action):
                    found.append(entry)
                    if len(found) == limit:
                        return found, _token(day, position, first)
            if is_all:
                day, after = day - timedelta(days=1), None
        return found, _token(day, after, first) if day >= first.date() else None


def _range(since: datetime | None, until: datetime | None) -> tuple[datetime, datetime]:
    now = SYSTEM_CLOCK.now()
    earliest = now - timedelta(days=MAX_AUDIT_DAYS)
    if since is not None and since < earliest:
        expected = f"a time within the last {MAX_AUDIT_DAYS} days"
        raise InvalidRequestError.of_field("from", expected)
    # Compared before they are converted: years 1 and 9999 have times that no other zone has.
    last = now if until is None else min(until, now)
    if last <= (since or earliest):
        expected = f"a time after `from`, within the last {MAX_AUDIT_DAYS} days"
        raise InvalidRequestError.of_field("to", expected)
    first = since or max(last - _DEFAULT_SPAN, earliest)
    return first.astimezone(UTC), last.astimezone(UTC)


def _token(day: date, after: str | None, first: datetime) -> str:
    return encode_cursor(day.isoformat(), after or "", first.isoformat())


def _position(next_token: str, last: datetime) -> tuple[date, str | None, datetime]:
    day, after, since = decode_cursor(next_token, parts=3)
    try:
        at, first = date.fromisoformat(day), datetime.fromisoformat(since)
    except ValueError as error:
        raise invalid_cursor() from error
    if at > last.date() or not (after == "" or after.startswith(day)):
        raise invalid_cursor()
    earliest = SYSTEM_CLOCK.now() - timedelta(days=MAX_AUDIT_DAYS)
    if first.tzinfo is None or first > last:
        raise invalid_cursor()
    return at, after or None, max(first, earliest).astimezone(UTC)


def _matches(entry: AuditEntry, principal_id: str | None, action: str | None) -> bool:
    by = entry.principal_id if isinstance(entry, AuditedCall) else None
    return principal_id in (None, by) and action in (None, entry.action)
