"""What callers ask of imports: making, starting, reading and deleting them."""

import hashlib
import json
from datetime import timedelta
from typing import Any

from autotune.protocol import llm_imports as wire
from autotune.protocol.ids import derived_id, new_id
from autotune.protocol.limits import (
    LLM_IMPORT_LINK_SECONDS,
    MAX_OPEN_LLM_IMPORTS,
)
from autotune.protocol.problems import LimitProblem
from autotune_platform.access.models import Caller
from autotune_platform.ledger.connection_repository import ConnectionRepository
from autotune_platform.ledger.imports.files import ImportFiles
from autotune_platform.ledger.imports.models import LATEST_START, Import
from autotune_platform.ledger.imports.repository import ImportRepository
from autotune_platform.ledger.imports.work import START_WITHIN, start_import
from autotune_platform.ledger.usable_connections import require_usable
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import (
    ConflictError,
    IdempotencyKeyReusedError,
    NotFoundError,
    TooManyImportsError,
)
from autotune_platform.runtime.executions import Executions
from autotune_platform.runtime.parts import part

_MOST_ROWS_AT_A_TIME = 500


@part
class ImportService:
    """Manages an organisation's imports."""

    repository: ImportRepository
    files: ImportFiles
    connections: ConnectionRepository
    executions: Executions
    clock: Clock = SYSTEM_CLOCK

    def create(
        self,
        caller: Caller,
        request: wire.CreateLlmImportRequest,
        *,
        idempotency_key: str | None,
    ) -> tuple[wire.LlmImport, bool]:
        """Make an import that awaits its file; return it, and whether it had been made before.

        Raises:
            InvalidRequestError: the connection is not the organisation's, or revoked.
            IdempotencyKeyReusedError: the key came before with another body.
        """
        organization_id = caller.organization_id
        import_id = derived_id("lim", organization_id, idempotency_key or new_id("req"))
        fingerprint = _fingerprint(request)
        before = self.repository.get(import_id)
        if before is not None and before.expires_at > self.clock.now():
            if before.fingerprint != fingerprint:
                raise IdempotencyKeyReusedError(
                    "this Idempotency-Key came before with another body"
                )
            return self._on_wire(before), True
        require_usable(
            self.connections, organization_id, request.connection_id, field="connectionId"
        )
        one = Import(
            id=import_id,
            organization_id=organization_id,
            fingerprint=fingerprint,
            request=request,
            key_id=caller.key_id,
            principal_id=caller.principal_id,
            created_at=self.clock.now(),
        )
        self.repository.add(one)
        return self._on_wire(self._find(caller, import_id)), False

    def start(self, caller: Caller, import_id: str) -> wire.LlmImport:
        """Start an import whose file is uploaded; one that was started stays as it is.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
            ConflictError: the file is not there, has another length, or it is too late.
            TooManyImportsError: as many of the organisation's imports are under way as may be.
        """
        one = self._find(caller, import_id)
        if one.state != "awaiting_upload":
            return self._on_wire(one)
        now = self.clock.now()
        if one.created_at + LATEST_START <= now:
            raise ConflictError("the import was made more than a day ago; make another")
        uploaded = self.files.uploaded(one)
        if uploaded is None:
            raise ConflictError("the file is not uploaded yet")
        if uploaded.bytes != one.request.bytes:
            raise ConflictError(
                f"the file has {uploaded.bytes} bytes, and the import is of {one.request.bytes}"
            )
        changes = {
            "state": "running",
            "phase": "check" if one.request.on_error == "rejectAll" else "enqueue",
            "etag": uploaded.etag,
            "chunk_rows": min(_MOST_ROWS_AT_A_TIME, caller.limits.open_llm_rows),
            "started_at": now,
        }
        if self.repository.start(one, changes, due_at=now + START_WITHIN):
            started = one.model_copy(update=changes)
            start_import(self.executions, started)
            return self._on_wire(started)
        again = self._find(caller, import_id)
        if again.state == "awaiting_upload":
            raise TooManyImportsError(
                f"the organization has {MAX_OPEN_LLM_IMPORTS} imports under way",
                limit=LimitProblem(
                    name="open imports", maximum=MAX_OPEN_LLM_IMPORTS, unit="imports"
                ),
                retry_after_seconds=60,
            )
        return self._on_wire(again)

    def get(self, caller: Caller, import_id: str) -> wire.LlmImport:
        """Return an import, with a link to its report once it has ended.

        Raises:
            NotFoundError: there is none, it has expired, or it is another organisation's.
        """
        return self._on_wire(self._find(caller, import_id))

    def page(
        self,
        caller: Caller,
        *,
        state: wire.LlmImportState | None,
        limit: int,
        next_token: str | None,
    ) -> tuple[list[wire.LlmImport], str | None]:
        """Return a page of the organisation's imports without their links, the youngest first.

        Raises:
            InvalidRequestError: ``next_token`` is not from this list.
        """
        found, token = self.repository.page(
            caller.organization_id,
            state=state,
            now=self.clock.now(),
            limit=limit,
            next_token=next_token,
        )
        return [wire.LlmImport.model_validate(_known(one)) for one in found], token

    def delete(self, caller: Caller, import_id: str) -> None:
        """Stop an import and delete its files; what it has enqueued stays.

        Raises:
            NotFoundError: there is none, it has expired, or it is another organisation's.
            UnavailableError: some files are left; deleting again is safe.
        """
        one = self._find(caller, import_id)
        while not one.has_ended:
            ended = {"state": "canceled", "completed_at": self.clock.now()}
            self.repository.end(one, ended)
            one = self._find(caller, import_id)
        self.files.delete_all(one)

    def _find(self, caller: Caller, import_id: str) -> Import:
        one = self.repository.get(import_id)
        if (
            one is None
            or one.organization_id != caller.organization_id
            or one.expires_at <= self.clock.now()
        ):
            raise NotFoundError(f"no import {import_id}")
        return one

    def _on_wire(self, one: Import) -> wire.LlmImport:
        known = _known(one)
        if one.state == "awaiting_upload":
            url, headers = self.files.upload_url(one)
            until = self.clock.now() + timedelta(seconds=LLM_IMPORT_LINK_SECONDS)
            known["upload"] = wire.LlmImportUpload(url=url, headers=headers, expires_at=until)
        if one.report_bytes is not None and one.state != "canceled":
            known["report"] = wire.LlmImportReport(
                url=self.files.report_url(one), bytes=one.report_bytes, lines=one.rejected
            )
        return wire.LlmImport.model_validate(known)


def _known(one: Import) -> dict[str, Any]:
    """Return what an import shows to all who may read it; its links are not among that."""
    return {
        **one.model_dump(),
        **one.request.model_dump(include={"format", "bytes", "connection_id", "purpose"}),
        "on_error": one.request.on_error,
        "expires_at": one.expires_at,
        "counts": wire.LlmImportCounts(
            lines=one.line, bytes=one.offset, enqueued=one.enqueued, rejected=one.rejected
        ),
    }


def _fingerprint(request: wire.CreateLlmImportRequest) -> str:
    document = json.dumps(request.model_dump(mode="json"), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(document.encode()).hexdigest()
