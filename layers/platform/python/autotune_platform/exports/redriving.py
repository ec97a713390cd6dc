"""Starts the execution of an export, and redrives exports whose execution was lost.

An execution is lost if it could not be started, or if Step Functions lost it. Each step stores the
time by which it or the next step will report. An export that is overdue is redriven, at most
``MAX_REDRIVES`` times.
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

MAX_REDRIVES = 5
"""How often an export is redriven before it ends ``failed``."""

LONGEST_EXPORT = timedelta(days=2)
"""Longest time from the request of an export to its end; later it ends ``failed``."""


def start_export(executions: Executions, export: Export) -> None:
    """Start an export's current execution unless it was started; the sweeper tries again."""
    document = json.dumps({"export_id": export.id, "redrive": export.redrive})
    executions.try_start(export.execution_name, document)


@part
class ExportSweeper:
    """Redrives or ends overdue exports of every organisation."""

    repository: ExportRepository
    executions: Executions
    work: ExportWork

    def sweep(self) -> int:
        """Redrive or end every overdue export; return how many there were.

        Raises:
            ExceptionGroup: some exports could not be swept; all others were.
        """
        overdue = 0
        errors: list[Exception] = []
        for export_id in self.repository.open_ids():
            try:
                overdue += self._sweep_one(export_id)
            except Exception as error:
                logger.warning("export not swept", export_id=export_id, exc_info=True)
                errors.append(error)
        if errors:
            raise ExceptionGroup("exports that could not be swept", errors)
        return overdue

    def _sweep_one(self, export_id: str) -> bool:
        """Redrive or end an export if it is overdue; return whether it is."""
        export = self.repository.get(export_id)
        now = datetime.now(UTC)
        if export is None or not export.is_open:
            return False
        is_late = export.created_at + LONGEST_EXPORT <= now
        if export.due_at > now and not is_late:
            return False
        if export.redrive >= MAX_REDRIVES or is_late:
            self.work.fail(export.id, redrive=export.redrive, error_code="platform_error")
            return True
        # Twice as long each time, so that an export outlasts two hours in which nothing starts.
        due_at = now + START_WITHIN * 2 ** (export.redrive + 1)
        redriven = export.model_copy(update={"redrive": export.redrive + 1, "due_at": due_at})
        if self.repository.replace(export, redriven):
            logger.warning("export redriven", export_id=export.id, redrive=redriven.redrive)
            start_export(self.executions, redriven)
        return True
