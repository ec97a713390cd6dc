"""One step of an import's execution: chunk by chunk, and a note of how far it has come after each.

Memory holds one window of the file and one chunk of rows. A chunk's rows follow from the import and
their lines, and are enqueued under a key that follows from its place: a chunk that a killed step
had stored is stored again, which changes nothing.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from aws_lambda_powertools import Logger

from autotune.protocol.limits import MAX_LLM_IMPORT_LISTED, MAX_LLM_IMPORT_REJECTED
from autotune.protocol.llm_imports import LlmImportErrorCode
from autotune_platform.access.models import Caller
from autotune_platform.access.organizations import OrganizationService
from autotune_platform.ledger.connection_repository import ConnectionRepository
from autotune_platform.ledger.enqueuing import EnqueuingService
from autotune_platform.ledger.imports.checking import LineChecking
from autotune_platform.ledger.imports.files import (
    FileChangedError,
    FileGoneError,
    ImportFiles,
)
from autotune_platform.ledger.imports.lines import WINDOW_BYTES, Chunk, chunk_of
from autotune_platform.ledger.imports.models import LONGEST, UNDER_WAY, Import
from autotune_platform.ledger.imports.repository import ImportRepository
from autotune_platform.ledger.usable_connections import usable
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import TooManyOpenRowsError
from autotune_platform.runtime.executions import Executions
from autotune_platform.runtime.parts import part

logger = Logger()

START_WITHIN = timedelta(minutes=3)
"""How long the next step of an execution may take to begin, beyond what it waits."""

MAX_REDRIVES = 20
"""How often an import is redriven before it ends ``failed``; with growing pauses, about a day."""

_RESERVED_SECONDS = 45
_NO_ROOM_SECONDS = 120
_LONGEST_REDRIVE = timedelta(hours=1)


def start_import(executions: Executions, one: Import) -> bool:
    """Start an import's current execution unless it was started; the sweeper tries again."""
    document = json.dumps({"import_id": one.id, "redrive": one.redrive})
    return executions.try_start(f"{one.id}-{one.redrive}", document)


@dataclass(frozen=True)
class ImportStep:
    """Where an execution stands: whether it is over, and how long it waits before it goes on."""

    done: bool
    wait_seconds: int = 1


class _EndedError(Exception):
    """The import ends here as ``one`` is; without a code, another step is ahead or ended it."""

    def __init__(self, one: Import, code: LlmImportErrorCode | None = None) -> None:
        super().__init__(code)
        self.one = one
        self.code = code


@part
class ImportWork:
    """Takes files in, as far as there is time and room."""

    repository: ImportRepository
    files: ImportFiles
    checking: LineChecking
    enqueuing: EnqueuingService
    connections: ConnectionRepository
    organizations: OrganizationService
    clock: Clock = SYSTEM_CLOCK

    def advance(
        self, import_id: str, *, redrive: int, seconds_left: Callable[[], float]
    ) -> ImportStep:
        """Do chunk after chunk; an execution from before the latest redrive has nothing to do."""
        one = self._open(import_id, redrive)
        if one is None:
            return ImportStep(done=True)
        try:
            return self._go_on(self._begun(one, seconds_left()), seconds_left)
        except _EndedError as ended:
            if ended.code is not None:
                self.end(ended.one, ended.code)
            return ImportStep(done=True)

    def _go_on(self, one: Import, seconds_left: Callable[[], float]) -> ImportStep:
        caller = self._caller(one)
        if caller is None:
            return self._waiting(one, "the organization is suspended")
        window = b""
        while seconds_left() > _RESERVED_SECONDS:
            chunk, window = self._next(one, window)
            if chunk is None:
                one = self._at_end(one)
                continue
            try:
                one = self._do(caller, one, chunk)
            except TooManyOpenRowsError as error:
                return self._waiting(one, error.detail)
        return ImportStep(done=False)

    def end(self, one: Import, code: LlmImportErrorCode | None) -> None:
        """End an import, with a report of what was rejected; None where all of it is done."""
        report = self.files.put_report(one) if one.rejected else None
        changes: dict[str, Any] = {
            "state": "completed" if code is None else "failed",
            "completed_at": self.clock.now(),
            **({"error_code": code} if code else {}),
            **({"report_bytes": report} if report else {}),
        }
        if self.repository.end(one, changes):
            logger.info("import ended", import_id=one.id, code=code, enqueued=one.enqueued)
            self.files.delete_upload(one)

    def _open(self, import_id: str, redrive: int) -> Import | None:
        one = self.repository.get(import_id)
        if one is None or one.state not in UNDER_WAY or one.redrive != redrive:
            return None
        return one

    def _begun(self, one: Import, seconds: float) -> Import:
        """Note when this step counts as lost; end what waited for too long or for nothing."""
        now = self.clock.now()
        if one.started_at is not None and one.started_at + LONGEST <= now:
            is_full = one.state == "waiting"
            raise _EndedError(one, "too_many_open_requests" if is_full else "platform_error")
        connection = usable(self.connections.get(one.request.connection_id))
        if connection is None:
            raise _EndedError(one, "connection_revoked")
        return self._changed(one, {}, due_in=timedelta(seconds=seconds))

    def _caller(self, one: Import) -> Caller | None:
        """Return whom rows are enqueued for, with the present limits; None if suspended."""
        organization = self.organizations.organization(one.organization_id)
        if organization.status != "active":
            return None
        return Caller(
            key_id=one.key_id,
            organization_id=one.organization_id,
            principal_id=one.principal_id,
            role="training_operator",
            request_id=one.id,
            limits=organization.limits,
        )

    def _next(self, one: Import, window: bytes) -> tuple[Chunk | None, bytes]:
        """Return the next chunk, None at the end, and the window that it begins."""
        if window:
            chunk = self._first_of(one, window)
            if chunk is not None:
                return chunk, window[chunk.size :]
        try:
            window = self.files.window(one, WINDOW_BYTES)
        except FileGoneError as error:
            raise _EndedError(one, "file_missing") from error
        except FileChangedError as error:
            raise _EndedError(one, "file_changed") from error
        if not window:
            return None, b""
        chunk = self._first_of(one, window)
        assert chunk is not None, "a whole window has a chunk"
        return chunk, window[chunk.size :]

    @staticmethod
    def _first_of(one: Import, window: bytes) -> Chunk | None:
        return chunk_of(
            window,
            line=one.line,
            is_first=not one.offset,
            is_last=one.offset + len(window) >= one.request.bytes,
            is_skipping=one.is_skipping,
            most_lines=one.chunk_rows,
        )

    def _do(self, caller: Caller, one: Import, chunk: Chunk) -> Import:
        """Check a chunk, enqueue its rows unless the file is only checked, and note it as done."""
        checked = self.checking.check(caller, one, chunk)
        is_enqueuing = one.phase == "enqueue"
        # It was right when it was checked: its price went since, or its time is over.
        is_refused = is_enqueuing and one.request.on_error == "rejectAll" and checked.errors
        enqueued = 0
        if is_enqueuing and checked.planned and not is_refused:
            self.enqueuing.enqueue_planned(
                caller, checked.planned, key=f"{one.id}.{one.offset}", fingerprint=one.id
            )
            enqueued = len(checked.planned)
        if checked.errors:
            self.files.put_errors(one, checked.errors)
        listed = [*one.errors, *checked.errors][:MAX_LLM_IMPORT_LISTED]
        after = self._changed(
            one,
            {
                "state": "running",
                "waiting_because": None,
                "offset": one.offset + chunk.size,
                "line": one.line + chunk.passed,
                "is_skipping": chunk.is_skipping,
                "rejected": one.rejected + len(checked.errors),
                "enqueued": one.enqueued + enqueued,
                "errors": [error.model_dump(mode="json", exclude_none=True) for error in listed],
            },
        ).model_copy(update={"errors": listed})
        if is_refused:
            raise _EndedError(after, "lines_rejected")
        if after.rejected > MAX_LLM_IMPORT_REJECTED:
            raise _EndedError(after, "too_many_rejected")
        return after

    def _at_end(self, one: Import) -> Import:
        """Return an import that is to be read once more.

        Raises:
            _EndedError: it is done, or a line is wrong that keeps out all.
        """
        if one.phase == "enqueue":
            self.end(one, None)
            raise _EndedError(one)
        if one.rejected:
            raise _EndedError(one, "lines_rejected")
        return self._changed(one, {"phase": "enqueue", "offset": 0, "line": 0})

    def _waiting(self, one: Import, because: str) -> ImportStep:
        changes = {"state": "waiting", "waiting_because": because}
        self._changed(one, changes, due_in=timedelta(seconds=_NO_ROOM_SECONDS))
        return ImportStep(done=False, wait_seconds=_NO_ROOM_SECONDS)

    def _changed(
        self, one: Import, changes: Mapping[str, Any], *, due_in: timedelta | None = None
    ) -> Import:
        """Store changes of an import and return it.

        Raises:
            _EndedError: it was ended, or another step is ahead.
        """
        due_at = None if due_in is None else self.clock.now() + due_in + START_WITHIN
        if not self.repository.advance(one, changes, due_at=due_at):
            raise _EndedError(one)
        return one.model_copy(update=dict(changes))


@part
class ImportSweeping:
    """Redrives or ends one import whose execution was lost."""

    repository: ImportRepository
    executions: Executions
    clock: Clock = SYSTEM_CLOCK

    def redrive(self, import_id: str) -> None:
        """Start an overdue import anew; executions from before have no effect any more."""
        one = self.repository.get(import_id)
        if one is None or one.state not in UNDER_WAY:
            self.repository.close(import_id)
            return
        if one.redrive >= MAX_REDRIVES:
            now = self.clock.now()
            ended = {"state": "failed", "error_code": "platform_error", "completed_at": now}
            self.repository.end(one, ended)
            return
        redrive = one.redrive + 1
        pause = min(START_WITHIN * 2 ** min(redrive, 10), _LONGEST_REDRIVE)
        if self.repository.advance(one, {"redrive": redrive}, due_at=self.clock.now() + pause):
            logger.warning("import redriven", import_id=import_id, redrive=redrive)
            start_import(self.executions, one.model_copy(update={"redrive": redrive}))
