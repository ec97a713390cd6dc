"""Where the audit log is stored: each organisation and day over some partitions, in order of time.

An entry is kept as the JSON that callers see. Nothing but time takes it away: ``expires_at`` lies
far behind the day of its export.
"""

import hashlib
import heapq
import math
import secrets
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import cache
from itertools import islice
from typing import Unpack

from pydantic import TypeAdapter

from autotune.protocol.audit import AuditEntry
from autotune_platform.runtime.threads import in_parallel
from autotune_platform.storage.counting import Addition
from autotune_platform.storage.expressions import QueryOptions
from autotune_platform.storage.table import Item, Page, Table

DAY_SHARDS = 16
"""Over how many partitions a day of an organisation is spread: each bears 1,000 units a second."""
_READ_AT_ONCE = 8
# Entries fall into partitions by chance: a little more than the mean saves most second reads.
_MARGIN = 3

RETENTION = timedelta(days=400)
"""How long an entry stays in the table; its export follows after hours, and has a year to fail."""


@cache
def _entries() -> TypeAdapter[AuditEntry]:
    return TypeAdapter(AuditEntry)


class AuditRepository:
    """Entries in the ``audit`` table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def add(self, organization_id: str, entry: AuditEntry) -> bool:
        """Store an entry; return False where it was stored before, which changes nothing."""
        writer = secrets.token_hex(8)
        return self._table.put_new(_item(organization_id, entry), writer=writer)

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
        latest = _moment(until) if after is None else after
        if latest < _moment(since):
            return [], True
        reach = math.ceil(limit / DAY_SHARDS) + _MARGIN
        merged = self._merged(
            _partitions(organization_id, day),
            between=("sk", _moment(since), latest),
            newest_first=True,
            limit=reach,
        )
        # The range includes its end, which is the entry before.
        further = (item for item in merged if item["sk"] != after)
        found = [
            (item["sk"], _entries().validate_json(item["entry"])) for item in islice(further, limit)
        ]
        return found, next(further, None) is None

    def of_day(self, organization_id: str, day: date) -> Iterator[str]:
        """Yield all entries of a day as JSON, the oldest first.

        A page of each of its partitions is in memory at a time: 500 entries.
        """
        items = self._merged(_partitions(organization_id, day), limit=500)
        return (item["entry"] for item in items)

    def _merged(self, partitions: Sequence[str], **options: Unpack[QueryOptions]) -> Iterator[Item]:
        """Yield the items of partitions in one order; only their first pages are read at once."""
        first: dict[str, Page] = {}

        def read(partition: str) -> None:
            first[partition] = self._table.query(partition, **options)

        in_parallel(read, partitions, at_most=_READ_AT_ONCE)
        return heapq.merge(
            *(self._from(partition, page, options) for partition, page in first.items()),
            key=lambda item: str(item["sk"]),
            reverse=options.get("newest_first", False),
        )

    def _from(self, partition: str, page: Page, options: QueryOptions) -> Iterator[Item]:
        yield from page.items
        if page.last_key is not None:
            behind = options.copy()
            behind["after"] = page.last_key
            yield from self._table.items(partition, **behind)


def _item(organization_id: str, entry: AuditEntry) -> Item:
    return {
        "pk": _partitions(organization_id, entry.time.astimezone(UTC).date())[_shard_of(entry.id)],
        "sk": f"{_moment(entry.time)}#{entry.id}",
        "entry": entry.model_dump_json(by_alias=True, exclude_none=True),
        "expires_at": int((entry.time + RETENTION).timestamp()),
    }


def _partitions(organization_id: str, day: date) -> list[str]:
    """Return the partitions of a day; the first has no number."""
    first = f"{organization_id}#{day.isoformat()}"
    return [first, *(f"{first}#{shard}" for shard in range(1, DAY_SHARDS))]


def _shard_of(entry_id: str) -> int:
    return hashlib.sha256(entry_id.encode()).digest()[0] % DAY_SHARDS


def _moment(at: datetime) -> str:
    # One format for all, because the table sorts by text.
    return at.astimezone(UTC).isoformat(timespec="microseconds")
