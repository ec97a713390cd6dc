"""Creates, reads and deletes exports."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass

from autotune.protocol.exports import (
    CreateExportRequest,
    ExportDetails,
    ExportDownloads,
    ExportedFile,
    ExportedPart,
    ExportProgress,
)
from autotune.protocol.exports import Export as WireExport
from autotune_platform.access.models import Caller
from autotune_platform.exports.files import ExportFiles
from autotune_platform.exports.models import Export, StoredFile
from autotune_platform.exports.reading import ExportSource
from autotune_platform.exports.repository import ExportRepository
from autotune_platform.exports.work import start_export
from autotune_platform.runtime.clock import SYSTEM_CLOCK
from autotune_platform.runtime.errors import (
    IdempotencyKeyReusedError,
    InvalidRequestError,
    NotFoundError,
    UnavailableError,
)
from autotune_platform.runtime.executions import Executions
from autotune_platform.runtime.parts import part


@dataclass(frozen=True)
class CreatedExport:
    """An export, and whether an earlier request with the same idempotency key created it."""

    export: WireExport
    replayed: bool


@part
class ExportService:
    """Manages an organisation's exports."""

    repository: ExportRepository
    files: ExportFiles
    executions: Executions
    source: ExportSource

    def create(
        self, caller: Caller, request: CreateExportRequest, *, idempotency_key: str | None
    ) -> CreatedExport:
        """Store an export and start it; if the start fails, the sweeper starts it soon.

        Raises:
            InvalidRequestError: the task is not the organisation's.
            IdempotencyKeyReusedError: the key was used before with another body.
            TooManyExportsError: the organisation has as many open exports as are allowed.
            UnavailableError: the same request is in progress, or a store refused work.
        """
        fingerprint = _fingerprint(request)
        claim = before = None
        if idempotency_key is not None:
            claim = self.repository.claim(caller.organization_id, idempotency_key)
            before = self.repository.get(claim.export_id) if claim.export_id else None
        if before is not None and not _has_expired(before):
            if before.fingerprint != fingerprint:
                raise IdempotencyKeyReusedError(
                    "this Idempotency-Key came before with another body"
                )
            if before.state == "pending":
                start_export(self.executions, before)
            return CreatedExport(_on_wire(before), replayed=True)
        if not self.source.is_known(caller, request.filters.task_id):
            raise InvalidRequestError.of_field(
                "filters.taskId",
                "a task of this organisation",
                detail=f"no task {request.filters.task_id}",
            )
        export = Export.new(caller.organization_id, request, fingerprint=fingerprint)
        if not self.repository.open(export, claim=claim):
            raise UnavailableError("the same request is in progress", retry_after_seconds=1)
        start_export(self.executions, export)
        return CreatedExport(_on_wire(export), replayed=False)

    def get(self, caller: Caller, export_id: str) -> ExportDetails:
        """Return an export, with links to its files if it is completed.

        Raises:
            NotFoundError: there is none, it has expired, or it is another organisation's.
        """
        export = self._find(caller, export_id)
        downloads = None
        if export.manifest is not None and export.state == "completed":
            parts = self.repository.files(export, "part")
            downloads = self._downloads(export.manifest, parts)
        return ExportDetails(**dict(_on_wire(export)), downloads=downloads)

    def list(
        self, caller: Caller, *, limit: int, next_token: str | None
    ) -> tuple[list[WireExport], str | None]:
        """Return a page of the organisation's exports, oldest first, without links."""
        found, token = self.repository.list(
            caller.organization_id, limit=limit, next_token=next_token
        )
        return [_on_wire(export) for export in found if not _has_expired(export)], token

    def delete(self, caller: Caller, export_id: str) -> None:
        """Delete an export's files and stop its work; it stays as ``canceled`` until it expires.

        Raises:
            NotFoundError: there is none, it has expired, or it is another organisation's.
            UnavailableError: some files are left; deleting again is safe.
        """
        export = self._find(caller, export_id)
        while export.state != "canceled":
            changes = {"state": "canceled", "error_code": None, "limit": None, "manifest": None}
            self.repository.replace(export, export.model_copy(update=changes))
            export = self._find(caller, export_id)
        # A step that uploads a file from now on cannot store its record, and deletes the file.
        self.files.delete_all(export)

    def _find(self, caller: Caller, export_id: str) -> Export:
        export = self.repository.get_of(caller.organization_id, export_id)
        if _has_expired(export):
            raise NotFoundError(f"no export {export_id}")
        return export

    def _downloads(self, manifest: StoredFile, parts: Iterable[StoredFile]) -> ExportDownloads:
        return ExportDownloads(
            manifest=ExportedFile(**manifest.model_dump(), url=self.files.link(manifest)),
            parts=[ExportedPart(**one.model_dump(), url=self.files.link(one)) for one in parts],
        )


def _has_expired(export: Export) -> bool:
    return export.expires_at <= SYSTEM_CLOCK.now()


def _fingerprint(request: CreateExportRequest) -> str:
    document = json.dumps(request.model_dump(mode="json"), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(document.encode()).hexdigest()


def _on_wire(export: Export) -> WireExport:
    """Return an export without links."""
    progress = ExportProgress(
        records_written=export.records, scanned=export.scanned, parts=export.parts
    )
    shown = {**export.model_dump(), "expires_at": export.expires_at, "progress": progress}
    return WireExport.model_validate(shown)
