"""Exports as the platform stores them."""

from datetime import datetime, timedelta
from typing import Literal, Self

from autotune.protocol.exports import CreateExportRequest, ExportErrorCode, ExportState
from autotune.protocol.ids import new_id
from autotune.protocol.limits import EXPORT_DAYS
from autotune.protocol.llm_requests import LlmStatus
from autotune.protocol.problems import LimitProblem
from autotune_platform.runtime.clock import SYSTEM_CLOCK
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.storage.registry import Entity

OPEN: tuple[ExportState, ...] = ("pending", "running")
"""States of an export that is under way."""

START_WITHIN = timedelta(minutes=2)
"""Longest time until an execution begins, or begins its next step, before it is lost."""

Phase = Literal["collect", "pair", "write", "finish"]
"""Only exports of preference pairs have ``collect`` and ``pair``."""

FileKind = Literal["candidates", "pairs", "part"]
"""Only ``part`` files are for download; the others have no text."""


class Position(FrozenModel):
    """Where the next segment of an export begins.

    Attributes:
        task_id: the task whose verdicts are being read; None before the first task.
        status: the status whose requests to language models are being read; None before the first.
        token: the position within the task's verdicts, or among these requests.
        file: how many files of pairs are completely written.
        row: how many pairs of the next file are written.
    """

    phase: Phase
    task_id: str | None = None
    status: LlmStatus | None = None
    token: str | None = None
    file: int = 0
    row: int = 0


class StoredFile(FrozenModel):
    """A file of an export in the bucket; ``name`` is its name when it is downloaded."""

    key: str
    name: str
    sha256: str
    bytes: int
    records: int


class Export(Entity):
    """An export and its progress.

    Attributes:
        fingerprint: a digest of the request. Under the same idempotency key, a repeated request has
            the same one and another request a different one.
        redrive: the number of the current execution: 0 for the first one, and one more each time
            that an execution was lost. Earlier executions have no effect any more.
        segments: how many segments are done, each with its files and its summary.
        due_at: when its execution counts as lost, unless it reports before.
        slot: the slot for open exports of its organisation that it holds while it is open.
        as_of: it has only verdicts that were decided before this time.
    """

    fingerprint: str
    request: CreateExportRequest
    state: ExportState
    position: Position
    redrive: int = 0
    slot: int = 0
    segments: int = 0
    scanned: int = 0
    records: int = 0
    parts: int = 0
    error_code: ExportErrorCode | None = None
    limit: LimitProblem | None = None
    manifest: StoredFile | None = None
    as_of: datetime
    created_at: datetime
    completed_at: datetime | None = None
    due_at: datetime

    @classmethod
    def new(
        cls, organization_id: str, request: CreateExportRequest, *, fingerprint: str = ""
    ) -> Self:
        """Return a new export, ready to start."""
        now = SYSTEM_CLOCK.now()
        return cls(
            id=new_id("exp"),
            organization_id=organization_id,
            fingerprint=fingerprint,
            request=request,
            state="pending",
            position=Position(phase="collect" if request.shape == "preference" else "write"),
            as_of=now,
            created_at=now,
            due_at=now + START_WITHIN,
        )

    @property
    def expires_at(self) -> datetime:
        """When it goes, with its files."""
        return self.created_at + timedelta(days=EXPORT_DAYS)

    @property
    def is_open(self) -> bool:
        """Whether it is under way."""
        return self.state in OPEN

    @property
    def folder(self) -> str:
        """Prefix of its files in the bucket."""
        return f"exports/{self.organization_id}/{self.id}/"


class ExportTooLargeError(Exception):
    """The export would exceed a limit of exports."""

    def __init__(self, name: str, maximum: int, unit: str, *, actual: int | None = None) -> None:
        super().__init__(f"more than {maximum} {unit}")
        self.limit = LimitProblem(name=name, maximum=maximum, unit=unit, actual=actual)
