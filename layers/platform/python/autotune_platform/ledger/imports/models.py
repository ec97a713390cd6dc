"""Imports as the platform stores them."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Literal

from autotune.protocol.limits import LLM_IMPORT_DAYS
from autotune.protocol.llm_imports import (
    CreateLlmImportRequest,
    LlmImportErrorCode,
    LlmImportState,
)
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.storage.registry import Entity

ENDED: frozenset[LlmImportState] = frozenset({"completed", "failed", "canceled"})
UNDER_WAY: frozenset[LlmImportState] = frozenset({"running", "waiting"})

LONGEST = timedelta(days=LLM_IMPORT_DAYS - 2)
"""Longest from an import's start to its end: its file goes two days later at the earliest."""

LATEST_START = timedelta(days=1)
"""How long after its creation an import may be started."""

Phase = Literal["check", "enqueue"]
"""Only an import that rejects all for one wrong line has ``check``."""


class LineError(FrozenModel):
    """Why a line was rejected; ``line`` counts from 1."""

    line: int
    custom_id: str | None = None
    field: str | None = None
    message: str


class Import(Entity):
    """A file of requests, and how far it is taken in.

    Attributes:
        fingerprint: a digest of the request that made it.
        key_id: the key that made it, and ``principal_id`` whose that is.
        etag: of the file as it was at the start.
        offset: bytes of the file that are done, in this phase; always the end of a line, unless
            ``is_skipping``: then it is within one that is too long.
        line: lines that are done.
        chunk_rows: most rows that are stored at a time; with the file's bytes it decides where
            each chunk ends, so that a chunk that is done again is the same one.
        rejected: lines without a request; ``errors`` are the first of them.
        waiting_since: since when there was no room for more rows.
        redrive: how often its execution was lost; executions from before have no effect.
    """

    fingerprint: str
    request: CreateLlmImportRequest
    key_id: str
    principal_id: str
    state: LlmImportState = "awaiting_upload"
    phase: Phase = "enqueue"
    etag: str | None = None
    offset: int = 0
    line: int = 0
    is_skipping: bool = False
    chunk_rows: int = 500
    enqueued: int = 0
    rejected: int = 0
    errors: Sequence[LineError] = ()
    error_code: LlmImportErrorCode | None = None
    waiting_because: str | None = None
    report_bytes: int | None = None
    redrive: int = 0
    created_at: datetime
    started_at: datetime | None = None
    completed_at: datetime | None = None

    @property
    def has_ended(self) -> bool:
        """Whether nothing more becomes of it."""
        return self.state in ENDED

    @property
    def expires_at(self) -> datetime:
        """When it goes, with its files."""
        return self.created_at.replace(microsecond=0) + timedelta(days=LLM_IMPORT_DAYS)
