"""Exporting the audit log: each day that is over, for each organisation, in order.

A run goes on where the one before it stopped, and catches up after an outage. What it repeats
writes the same objects again.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

from aws_lambda_powertools import Logger

from autotune_platform.access.service import AccessService
from autotune_platform.audit.archive import AuditArchive
from autotune_platform.audit.progress import ExportProgress, ExportProgressRepository
from autotune_platform.audit.repository import RETENTION, AuditRepository
from autotune_platform.runtime.parts import part

logger = Logger()

# Entries bear the time of their writing; the slowest write is over long before.
_CLOSED_AFTER = timedelta(hours=1)
_LONGEST_BACKLOG = timedelta(days=2)
_ORGANIZATIONS_AT_A_TIME = 50


class ExportBehindError(Exception):
    """A day is not exported although it was over two days ago."""


class DayNotExportableError(ValueError):
    """The day is not over yet, or so old that its entries may be gone."""


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
