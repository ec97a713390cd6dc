"""Starting the execution of an export, and another one where the last was lost.

An execution is lost where it could not be started, or where what runs it was restarted. Each step
tells by when it will have been heard of; an export that is overdue is driven again, a few times.
"""

import json
from datetime import UTC, datetime, timedelta

from aws_lambda_powertools import Logger

from autotune_platform.exports.models import START_WITHIN, Export
from autotune_platform.exports.repository import ExportRepository
from autotune_platform.exports.work import ExportWork
from autotune_platform.runtime.executions import Executions
from autotune_platform.runtime.parts import part

logger = Logger()

MAX_DRIVES = 5
"""How often an export is driven again before it ends ``failed``."""

LONGEST_EXPORT = timedelta(days=2)
"""How long after it was asked for an export is written at most; then it ends ``failed``."""


def start_export(executions: Executions, export: Export) -> None:
    """Start the execution of an export's present drive unless it was; the sweeper tries again."""
    document = json.dumps({"export_id": export.id, "drive": export.drive})
    executions.try_start(export.execution_name, document)


@part
class ExportSweeper:
    """Looks after open exports of every organisation."""

    repository: ExportRepository
    executions: Executions
    work: ExportWork

    def sweep(self) -> int:
        """Drive every overdue export again; return how many there were.

        Raises:
            ExceptionGroup: some could not be looked after; all others were.
        """
        overdue = 0
        errors: list[Exception] = []
        for export_id in self.repository.open_ids():
            try:
                overdue += self._look_after(export_id)
            except Exception as error:
                logger.warning("export not swept", export_id=export_id, exc_info=True)
                errors.append(error)
        if errors:
            raise ExceptionGroup("exports that could not be looked after", errors)
        return overdue

    def _look_after(self, export_id: str) -> bool:
        """Drive an export again, or end it, where it is overdue; return whether it is."""
        export = self.repository.get(export_id)
        now = datetime.now(UTC)
        if export is None or not export.is_open:
            return False
        is_late = export.created_at + LONGEST_EXPORT <= now
        if export.due_at > now and not is_late:
            return False
        if export.drive >= MAX_DRIVES or is_late:
            self.work.fail(export.id, drive=export.drive, error_code="platform_error")
            return True
        # Twice as long each time, so that two hours in which nothing starts are outlasted.
        due_at = now + START_WITHIN * 2 ** (export.drive + 1)
        again = export.model_copy(update={"drive": export.drive + 1, "due_at": due_at})
        if self.repository.replace(export, again):
            logger.warning("export driven again", export_id=export.id, drive=again.drive)
            start_export(self.executions, again)
        return True
