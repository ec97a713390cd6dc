"""Where the audit log is stored: a partition for each organisation and day, in order of time.

An entry is kept as the JSON that callers see. Nothing but time takes it away: ``expires_at`` lies
far behind the day of its export.
"""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from functools import cache

from pydantic import TypeAdapter

from autotune.protocol.audit import AuditEntry
from autotune_platform.storage.counting import Addition
from autotune_platform.storage.table import Item, Table

RETENTION = timedelta(days=400)
"""How long an entry stays in the table; its export follows after hours, and has a year to fail."""


@cache
def _entries() -> TypeAdapter[AuditEntry]:
    return TypeAdapter(AuditEntry)


class AuditRepository:
    """Entries in the ``audit`` table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def add(self, organization_id: str, entry: AuditEntry) -> None:
        """Store an entry; storing it again changes nothing."""
        self._table.put_new(_item(organization_id, entry))

    def addition(self, organization_id: str, entry: AuditEntry) -> Addition:
        """Return what stores an entry in a transaction with other additions."""
        item = _item(organization_id, entry)
        pk, sk = item.pop("pk"), item.pop("sk")
        return Addition(table=self._table.name, pk=pk, sk=sk, changes=item)

    def newest(
        self,
        organization_id: str,
        day: date,
        *,
        since: datetime,
        until: datetime,
        after: str | None,
        limit: int,
    ) -> tuple[list[tuple[str, AuditEntry]], bool]:
        """Return entries of a day with their positions, the newest first, and whether that is all.

        Args:
            since: the earliest time, included.
            until: the latest time, left out.
            after: position of the entry before the first of them.
        """
        partition = _partition(organization_id, day)
        page = self._table.query(
            partition,
            between=("sk", _moment(since), _moment(until)),
            newest_first=True,
            limit=limit,
            after=None if after is None else {"pk": partition, "sk": after},
        )
        found = [(item["sk"], _entries().validate_json(item["entry"])) for item in page.items]
        return found, page.last_key is None

    def of_day(self, organization_id: str, day: date) -> Iterator[str]:
        """Yield all entries of a day as JSON, the oldest first, a page in memory at a time."""
        return (item["entry"] for item in self._table.items(_partition(organization_id, day)))


def _item(organization_id: str, entry: AuditEntry) -> Item:
    return {
        "pk": _partition(organization_id, entry.time.astimezone(UTC).date()),
        "sk": f"{_moment(entry.time)}#{entry.id}",
        "entry": entry.model_dump_json(by_alias=True, exclude_none=True),
        "expires_at": int((entry.time + RETENTION).timestamp()),
    }


def _partition(organization_id: str, day: date) -> str:
    return f"{organization_id}#{day.isoformat()}"


def _moment(at: datetime) -> str:
    # One format for all, because the table sorts by text.
    return at.astimezone(UTC).isoformat(timespec="microseconds")
