"""Exports as the platform sees them."""

from datetime import UTC, datetime, timedelta
from typing import Literal, Self

from autotune.protocol.exports import CreateExportRequest, ExportErrorCode, ExportState
from autotune.protocol.limits import EXPORT_DAYS
from autotune.protocol.problems import LimitProblem
from autotune_platform.runtime.frozen_model import FrozenModel

OPEN: tuple[ExportState, ...] = ("pending", "running")
"""States of an export that is under way."""

START_WITHIN = timedelta(minutes=2)
"""How long an execution may take to begin, or to begin its next step, before it counts as lost."""

Phase = Literal["collect", "pair", "write", "finish"]
"""``collect`` and ``pair`` are of preference pairs alone."""

FileKind = Literal["candidates", "pairs", "part"]
"""Of the files of an export, its ``part`` files are for download; the others hold no text."""


class Position(FrozenModel):
    """Where the next stretch of an export's work begins.

    Attributes:
        task_id: whose verdicts are being read; None before the first task.
        token: within them.
        file: how many files of pairs are done with.
        row: pairs of the file after them that are done with.
    """

    phase: Phase
    task_id: str | None = None
    token: str | None = None
    file: int = 0
    row: int = 0


class StoredFile(FrozenModel):
    """A file of an export in the bucket; ``name`` is what a download is called."""

    key: str
    name: str
    sha256: str
    bytes: int
    records: int


class Export(FrozenModel):
    """An export and how far it has come.

    Attributes:
        fingerprint: tells a repeated request from another one under the same idempotency key.
        drive: how often an execution was started for it after the first one was lost; what an
            earlier one still does has no effect.
        stretches: stretches of work that are done, each with its files and its summary.
        due_at: when whoever works on it will have been heard of, unless that was lost.
        slot: which of its organisation's places for open exports it holds while it is open.
        as_of: verdicts from then on are not in it.
    """

    id: str
    organization_id: str
    fingerprint: str
    request: CreateExportRequest
    state: ExportState
    position: Position
    drive: int = 0
    slot: int = 0
    stretches: int = 0
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
    expires_at: datetime

    @classmethod
    def new(
        cls,
        *,
        export_id: str,
        organization_id: str,
        request: CreateExportRequest,
        fingerprint: str,
    ) -> Self:
        """Return an export that is about to start."""
        now = datetime.now(UTC)
        return cls(
            id=export_id,
            organization_id=organization_id,
            fingerprint=fingerprint,
            request=request,
            state="pending",
            position=Position(phase="collect" if request.shape == "preference" else "write"),
            as_of=now,
            created_at=now,
            due_at=now + START_WITHIN,
            expires_at=now + timedelta(days=EXPORT_DAYS),
        )

    @property
    def is_open(self) -> bool:
        """Whether it is under way."""
        return self.state in OPEN

    @property
    def execution_name(self) -> str:
        """Name of its execution; another one for each drive."""
        return f"{self.id}-{self.drive}"

    @property
    def folder(self) -> str:
        """Prefix of its files in the bucket."""
        return f"exports/{self.organization_id}/{self.id}/"


class ExportTooLargeError(Exception):
    """The export would have more of something than one may have."""

    def __init__(self, limit: LimitProblem) -> None:
        super().__init__(f"more than {limit.maximum} {limit.unit}")
        self.limit = limit
