"""Exporting the audit log: each day that is over, for each organisation, in order.

A run goes on where the one before it stopped, and catches up after an outage. What it repeats
writes the same objects again.
"""

import gzip
import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import Logger

from autotune_platform.access.service import AccessService
from autotune_platform.audit.repository import RETENTION, AuditRepository
from autotune_platform.runtime.parts import part
from autotune_platform.storage.table import Table

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

logger = Logger()

# Entries bear the time of their writing; the slowest write is over long before.
_CLOSED_AFTER = timedelta(hours=1)
_LONGEST_BACKLOG = timedelta(days=2)
_ORGANIZATIONS_AT_A_TIME = 50
_PART_BYTES = 16_000_000
_PK, _SK = "export", "progress"


class ExportBehindError(Exception):
    """A day is not exported although it was over two days ago."""


class DayNotExportableError(ValueError):
    """The day is not over yet, or so old that its entries may be gone."""


@dataclass(frozen=True, kw_only=True)
class ExportProgress:
    """The day that is being exported, and the last organisation of it that is done."""

    day: date
    after: str | None = None


class ExportProgressRepository:
    """Keeps the progress of the export."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get_or_start(self, *, first_day: date) -> ExportProgress:
        """Return the progress; the first export ever starts with ``first_day``."""
        item = self._table.get(_PK, _SK)
        if item is None:
            start = ExportProgress(day=first_day)
            if self._table.put_new({"pk": _PK, "sk": _SK, **_attributes(start)}):
                return start
            return self.get_or_start(first_day=first_day)
        return ExportProgress(day=date.fromisoformat(item["day"]), after=item["after"] or None)

    def advance(self, before: ExportProgress, after: ExportProgress) -> bool:
        """Store progress; return False where another run came further in the meantime."""
        changed = self._table.update(_PK, _SK, _attributes(after), only_if=_attributes(before))
        return changed is not None


@part
class AuditArchive:
    """Writes the entries of an organisation and a day.

    Objects are named ``audit/organization=org_…/day=2026-11-21/part-00000.jsonl.gz``, which Athena
    and its like read as a partitioned table. The same entries make the same objects, byte for byte.
    """

    bucket: str
    s3: "S3Client"

    def write(self, organization_id: str, day: date, lines: Iterable[str]) -> int:
        """Write lines in parts of about 16 MB before compression; return how many lines there were.

        A day without any gets no object. One part at a time is in memory, compressed.
        """
        folder = f"audit/organization={organization_id}/day={day.isoformat()}"
        count = 0
        for number, (some, body) in enumerate(_parts(lines)):
            self.s3.put_object(
                Bucket=self.bucket,
                Key=f"{folder}/part-{number:05}.jsonl.gz",
                Body=body,
                ContentType="application/gzip",
            )
            count += some
        return count


@part
class AuditExport:
    """Copies the log to the archive."""

    repository: AuditRepository
    progress: ExportProgressRepository
    archive: AuditArchive
    access: AccessService

    def catch_up(self, *, now: datetime, has_time: Callable[[], bool]) -> int:
        """Export what is due, as far as there is time; return how many entries were written.

        Raises:
            ExportBehindError: much is left; the next run goes on, but somebody should look.
        """
        last_day = _last_closed(now)
        progress = self.progress.get_or_start(first_day=last_day)
        count = 0
        while progress.day <= last_day and has_time():
            found = self.access.organizations(after=progress.after, limit=1)
            if found:
                count += self._export(found[0].id, progress.day)
                further = replace(progress, after=found[0].id)
            else:
                logger.info("day exported", day=progress.day.isoformat())
                further = ExportProgress(day=progress.day + timedelta(days=1))
            if not self.progress.advance(progress, further):
                break  # another run goes on from there
            progress = further
        if last_day - progress.day > _LONGEST_BACKLOG:
            raise ExportBehindError(f"the audit log of {progress.day} is not exported yet")
        return count

    def export_again(self, day: date, *, now: datetime) -> int:
        """Export a day of all organisations once more; return how many entries were written.

        Raises:
            DayNotExportableError: it is not over, or its entries may be gone.
        """
        if not _last_closed(now) - RETENTION < day <= _last_closed(now):
            raise DayNotExportableError(
                f"day: expected one from {RETENTION.days - 1} days ago to {_last_closed(now)}"
            )
        return sum(self._export(organization_id, day) for organization_id in self._organizations())

    def _export(self, organization_id: str, day: date) -> int:
        whose = f'{{"organizationId":"{organization_id}",'
        entries = self.repository.of_day(organization_id, day)
        lines = (whose + entry.removeprefix("{") for entry in entries)
        return self.archive.write(organization_id, day, lines)

    def _organizations(self) -> Iterator[str]:
        after = None
        while found := self.access.organizations(after=after, limit=_ORGANIZATIONS_AT_A_TIME):
            for organization in found:
                yield organization.id
            after = found[-1].id


def _last_closed(now: datetime) -> date:
    return (now.astimezone(UTC) - _CLOSED_AFTER).date() - timedelta(days=1)


def _parts(lines: Iterable[str]) -> Iterator[tuple[int, bytes]]:
    rest = iter(lines)
    while True:
        packed = io.BytesIO()
        count = size = 0
        # Without the time of packing, which would make each run's objects others.
        with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as file:
            for line in rest:
                size += file.write(f"{line}\n".encode())
                count += 1
                if size >= _PART_BYTES:
                    break
        if not count:
            return
        yield count, packed.getvalue()


def _attributes(progress: ExportProgress) -> dict[str, Any]:
    return {"day": progress.day.isoformat(), "after": progress.after or ""}
