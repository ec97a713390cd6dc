"""The work of an export: stretch by stretch, each recorded with what it left before the next.

A crash repeats one stretch at most. Its files have names of their own each time, and the
transaction that records them goes through once, so that no record is lost and none is there twice.
Who works for an earlier drive than the last has no effect any more.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from aws_lambda_powertools import Logger

from autotune.protocol.exports import ExportErrorCode, ExportState
from autotune.protocol.problems import LimitProblem
from autotune_platform.exports.files import ExportFiles
from autotune_platform.exports.manifests import manifest_of
from autotune_platform.exports.models import (
    START_WITHIN,
    Export,
    ExportTooLargeError,
    FileKind,
    StoredFile,
)
from autotune_platform.exports.repository import ExportRepository
from autotune_platform.exports.scratch import scratch_folder
from autotune_platform.exports.stretches import LocalFile, Stretch, Stretches
from autotune_platform.runtime.parts import part

logger = Logger()

RESERVED_SECONDS = 90
"""What is left of a step's time when it stops reading, for packing and uploading its last part."""

_MANIFEST = "manifest.json"
_WITHOUT_FILES: tuple[ExportState, ...] = ("failed", "canceled")


@part
class ExportWork:
    """Does as much of an export as there is time for."""

    repository: ExportRepository
    files: ExportFiles
    stretches: Stretches

    def go_on(self, export_id: str, *, drive: int, seconds_left: Callable[[], float]) -> bool:
        """Do stretch after stretch; return whether there is nothing left to do for this drive."""

        def has_time() -> bool:
            return seconds_left() > RESERVED_SECONDS

        self._begin(export_id, drive, seconds_left())
        has_worked = False
        while (export := self._open(export_id, drive)) is not None:
            # Pairing cannot stop half way: it gets all of a step's time.
            if not has_time() or (has_worked and export.position.phase == "pair"):
                return False
            has_worked = True
            with scratch_folder() as directory:
                self._do(export, directory, has_time)
        self._tidy(export_id, drive)
        return True

    def fail(
        self,
        export_id: str,
        *,
        drive: int,
        error_code: ExportErrorCode,
        limit: LimitProblem | None = None,
    ) -> None:
        """End an export as failed, and delete its files; one that has ended stays as it is."""
        while (export := self._open(export_id, drive)) is not None:
            changes = {"state": "failed", "error_code": error_code, "limit": limit}
            failed = export.model_copy(update=changes)
            if self.repository.replace(export, failed):
                logger.info("export failed", export_id=export_id, code=error_code)
        self._tidy(export_id, drive)

    def _tidy(self, export_id: str, drive: int) -> None:
        """Delete what is left of an export that failed or was deleted.

        Whoever did that may have been killed before its files were gone, or have looked before the
        last step's upload; every retry comes here again.
        """
        export = self.repository.get(export_id)
        if export is not None and export.drive == drive and export.state in _WITHOUT_FILES:
            self.files.delete_all(export)

    def _begin(self, export_id: str, drive: int, seconds: float) -> None:
        """Tell the sweeper by when this step will have been heard of."""
        due_at = datetime.now(UTC) + timedelta(seconds=seconds) + START_WITHIN
        while (export := self._open(export_id, drive)) is not None:
            begun = export.model_copy(update={"state": "running", "due_at": due_at})
            if self.repository.replace(export, begun):
                return

    def _open(self, export_id: str, drive: int) -> Export | None:
        export = self.repository.get(export_id)
        if export is None or not export.is_open or export.drive != drive:
            return None
        return export

    def _do(self, export: Export, directory: Path, has_time: Callable[[], bool]) -> None:
        if export.position.phase == "finish":
            self._finish(export, directory)
            return
        try:
            stretch = self.stretches.do(export, directory, has_time)
        except ExportTooLargeError as error:
            logger.info("export too large", export_id=export.id, reason=str(error))
            self.fail(export.id, drive=export.drive, error_code="too_large", limit=error.limit)
            return
        stored = [(file.kind, self._store(export, file)) for file in stretch.files]
        if not self.repository.advance(
            export, _after(export, stretch), files=stored, summary=stretch.summary
        ):
            self._drop(file for _, file in stored)

    def _finish(self, export: Export, directory: Path) -> None:
        manifest = manifest_of(
            export,
            parts=self.repository.files(export, "part"),
            summaries=self.repository.summaries(export),
        )
        path = directory / _MANIFEST
        told = manifest.model_dump(mode="json", by_alias=True, exclude_none=True)
        path.write_text(json.dumps(told, indent=2, ensure_ascii=False) + "\n")
        stored = self.files.store(
            export,
            path,
            name=_MANIFEST,
            media_type="application/json",
            records=manifest.total_records,
        )
        completed = {
            "state": "completed",
            "manifest": stored,
            "completed_at": datetime.now(UTC),
        }
        if self.repository.replace(export, export.model_copy(update=completed)):
            logger.info("export completed", export_id=export.id, records=export.records)
        else:
            self._drop([stored])

    def _store(self, export: Export, file: LocalFile) -> StoredFile:
        return self.files.store(
            export,
            file.path,
            name=file.path.name,
            media_type=file.media_type,
            records=file.records,
        )

    def _drop(self, files: Iterable[StoredFile]) -> None:
        """Delete what a stretch stored that somebody else did, or that is no longer wanted."""
        for file in files:
            self.files.delete(file)


def _after(export: Export, stretch: Stretch) -> Export:
    kinds: Sequence[FileKind] = [file.kind for file in stretch.files]
    return export.model_copy(
        update={
            "position": stretch.next,
            "stretches": export.stretches + 1,
            "scanned": export.scanned + stretch.summary.scanned,
            "records": export.records + stretch.summary.records,
            "parts": export.parts + kinds.count("part"),
        }
    )
