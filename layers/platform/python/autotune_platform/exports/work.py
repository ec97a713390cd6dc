"""Writes an export segment by segment, and stores the result of each before the next one.

A crash repeats one segment at most. Each attempt uploads its files under new names, and only one
attempt's transaction succeeds. So no record is lost, and none is written twice.

An execution is lost if it could not be started, or if Step Functions lost it. Each step stores the
time by which it or the next step will report. An export that is overdue is redriven, at most
``MAX_REDRIVES`` times. Executions from before the latest redrive have no effect any more.
"""

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from aws_lambda_powertools import Logger

from autotune.protocol.exports import (
    ExportErrorCode,
    ExportManifest,
    ExportRequest,
    ExportState,
    ManifestPart,
)
from autotune.protocol.problems import LimitProblem
from autotune_platform.exports.files import ExportFiles
from autotune_platform.exports.models import START_WITHIN, Export, ExportTooLargeError
from autotune_platform.exports.repository import ExportRepository
from autotune_platform.exports.scratch import scratch_folder
from autotune_platform.exports.segments import ExportSegments
from autotune_platform.exports.statistics import Summary
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.executions import Executions
from autotune_platform.runtime.parts import part

logger = Logger()

RESERVED_SECONDS = 90
"""The time that a step keeps for packing and uploading its last part."""

MAX_REDRIVES = 9
"""How often an export is redriven before it ends ``failed``; each has twice the time of the one
before, so that a day passes in which nothing starts, or no function is free."""

LONGEST_EXPORT = timedelta(days=2)
"""Longest time from the request of an export to its end; later it ends ``failed``."""

_WITHOUT_FILES: tuple[ExportState, ...] = ("failed", "canceled")


def start_export(executions: Executions, export: Export) -> None:
    """Start an export's current execution unless it was started; the sweeper tries again."""
    document = json.dumps({"export_id": export.id, "redrive": export.redrive})
    executions.try_start(f"{export.id}-{export.redrive}", document)


@part
class ExportWork:
    """Runs as many segments of an export as there is time for."""

    repository: ExportRepository
    files: ExportFiles
    segments: ExportSegments
    clock: Clock = SYSTEM_CLOCK

    def advance(self, export_id: str, *, redrive: int, seconds_left: Callable[[], float]) -> bool:
        """Run segment after segment; return whether this execution has nothing left to do."""

        def has_time() -> bool:
            return seconds_left() > RESERVED_SECONDS

        self._begin(export_id, redrive, seconds_left())
        has_worked = False
        while (export := self._open(export_id, redrive)) is not None:
            # Pairing cannot stop half way, so it gets the whole time of a step.
            if not has_time() or (has_worked and export.position.phase == "pair"):
                return False
            has_worked = True
            with scratch_folder() as directory:
                self._run(export, directory, has_time)
        self._clean_up(export_id, redrive)
        return True

    def fail(
        self,
        export_id: str,
        *,
        redrive: int,
        error_code: ExportErrorCode,
        limit: LimitProblem | None = None,
    ) -> None:
        """End an open export as ``failed``, and delete its files; an ended one stays as it is."""
        while (export := self._open(export_id, redrive)) is not None:
            changes = {"state": "failed", "error_code": error_code, "limit": limit}
            failed = export.model_copy(update=changes)
            if self.repository.replace(export, failed):
                logger.info("export failed", export_id=export_id, code=error_code)
        self._clean_up(export_id, redrive)

    def _clean_up(self, export_id: str, redrive: int) -> None:
        """Delete the remaining files of an export that failed or was deleted.

        The worker that ended the export may have been killed before it deleted the files, or may
        have deleted them before the last step's upload. Every retry comes here again.
        """
        export = self.repository.get(export_id)
        if export is not None and export.redrive == redrive and export.state in _WITHOUT_FILES:
            self.files.delete_all(export)

    def _begin(self, export_id: str, redrive: int, seconds: float) -> None:
        """Store when this step counts as lost, for the sweeper."""
        # What had to wait for a function before may have to again.
        due_at = self.clock.now() + timedelta(seconds=seconds) + START_WITHIN * 2**redrive
        while (export := self._open(export_id, redrive)) is not None:
            begun = export.model_copy(update={"state": "running", "due_at": due_at})
            if self.repository.replace(export, begun):
                return

    def _open(self, export_id: str, redrive: int) -> Export | None:
        export = self.repository.get(export_id)
        if export is None or not export.is_open or export.redrive != redrive:
            return None
        return export

    def _run(self, export: Export, directory: Path, has_time: Callable[[], bool]) -> None:
        if export.position.phase == "finish":
            self._finish(export, directory)
            return
        try:
            segment = self.segments.run(export, directory, has_time)
        except ExportTooLargeError as error:
            logger.info("export too large", export_id=export.id, reason=str(error))
            self.fail(export.id, redrive=export.redrive, error_code="too_large", limit=error.limit)
            return
        stored = [
            self.files.store(export, file.path, media_type=file.media_type, records=file.records)
            for file in segment.files
        ]
        kinds = [file.kind for file in segment.files]
        changes = {
            "position": segment.next,
            "segments": export.segments + 1,
            "scanned": export.scanned + segment.summary.scanned,
            "records": export.records + segment.summary.records,
            "parts": export.parts + kinds.count("part"),
        }
        if not self.repository.advance(
            export,
            export.model_copy(update=changes),
            files=zip(kinds, stored, strict=True),
            summary=segment.summary,
        ):
            # Another worker stored the segment first, or it is obsolete.
            for file in stored:
                self.files.delete(file)

    def _finish(self, export: Export, directory: Path) -> None:
        manifest = self._manifest(export)
        path = directory / "manifest.json"
        document = manifest.model_dump(mode="json", by_alias=True, exclude_none=True)
        path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
        stored = self.files.store(
            export, path, media_type="application/json", records=manifest.total_records
        )
        completed = {"state": "completed", "manifest": stored, "completed_at": self.clock.now()}
        if self.repository.replace(export, export.model_copy(update=completed)):
            logger.info("export completed", export_id=export.id, records=export.records)
        else:
            self.files.delete(stored)

    def _manifest(self, export: Export) -> ExportManifest:
        """Return the manifest of an export whose parts are all written."""
        total = Summary()
        for summary in self.repository.summaries(export):
            total.merge(summary)
        return ExportManifest(
            export_id=export.id,
            exported_at=self.clock.now(),
            as_of=export.as_of,
            request=ExportRequest.model_validate(export.request.model_dump()),
            task_ids=sorted(total.task_ids),
            model_ids=sorted(total.model_ids),
            ids_truncated=total.truncated,
            total_records=total.records,
            score_distribution=total.scores.distribution(),
            counts=total.counts(),
            parts=[
                ManifestPart(**file.model_dump()) for file in self.repository.files(export, "part")
            ],
        )


@part
class ExportSweeper:
    """Redrives or ends overdue exports of every organisation."""

    repository: ExportRepository
    executions: Executions
    work: ExportWork
    clock: Clock = SYSTEM_CLOCK

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
        now = self.clock.now()
        if export is None or not export.is_open:
            return False
        is_late = export.created_at + LONGEST_EXPORT <= now
        if export.due_at > now and not is_late:
            return False
        if export.redrive >= MAX_REDRIVES or is_late:
            self.work.fail(export.id, redrive=export.redrive, error_code="platform_error")
            return True
        # Twice as long each time, so that an export outlasts a day in which nothing starts.
        due_at = now + START_WITHIN * 2 ** (export.redrive + 1)
        redriven = export.model_copy(update={"redrive": export.redrive + 1, "due_at": due_at})
        if self.repository.replace(export, redriven):
            logger.warning("export redriven", export_id=export.id, redrive=redriven.redrive)
            start_export(self.executions, redriven)
        return True
