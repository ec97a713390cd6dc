"""Imports on the wire: files of requests to language models, uploaded and taken in line by line."""

from typing import Annotated, Literal

from pydantic import Field

from autotune.protocol import limits
from autotune.protocol.completions import Priority
from autotune.protocol.llm_limits import ModelName
from autotune.protocol.llm_requests import (
    CompleteBy,
    ConnectionId,
    EnqueuedPurpose,
    Labels,
    LlmTrace,
)
from autotune.protocol.types import RequestModel, ResponseModel, Timestamp
from autotune.protocol.verdict_formats import VerdictFormat

LlmImportFormat = Literal["openai", "anthropic", "autotune"]
"""``openai``: lines of its batch API with ``custom_id``, ``method``, ``url`` and a ``body`` for
chat completions. ``anthropic``: lines of its batch API with ``custom_id`` and ``params``.
``autotune``: each line is an ``EnqueueLlmRequest``."""

LlmImportRule = Literal["rejectLine", "rejectAll"]
"""``rejectLine``: what is wrong is left out. ``rejectAll``: all lines are checked first, and one
that is wrong keeps all from being enqueued."""

LlmImportState = Literal["awaiting_upload", "running", "waiting", "completed", "failed", "canceled"]
"""``waiting``: the organisation has as many requests under way as it may, or is suspended; the
import goes on by itself. ``completed``, ``failed`` and ``canceled`` are for good."""

LlmImportErrorCode = Literal[
    "lines_rejected",
    "too_many_rejected",
    "too_many_open_requests",
    "connection_revoked",
    "file_changed",
    "file_missing",
    "platform_error",
]
"""Why an import ended before its file did.

``lines_rejected``: a line is wrong, and ``onError`` is ``rejectAll``. ``too_many_rejected``: more
than 100,000 are. ``too_many_open_requests``: for days there was no room for more requests.
``connection_revoked``: nothing can be asked there any more. ``file_changed``: another file was
uploaded after the start; ``file_missing``: it was deleted. Those that were enqueued by then stay.
"""


class LlmImportDefaults(RequestModel):
    """What requests have whose lines leave it out.

    There is none for the most tokens of an answer, which bound what a request can cost: a line
    without them is rejected.
    """

    model: ModelName | None = None
    priority: Priority | None = None
    verdict: VerdictFormat | None = None
    trace: LlmTrace | None = None
    labels: Labels | None = None
    complete_by: CompleteBy | None = None
    retention_days: (
        Annotated[int, Field(ge=limits.MIN_RETENTION_DAYS, le=limits.MAX_RETENTION_DAYS)] | None
    ) = None


class CreateLlmImportRequest(RequestModel):
    """A file that is to be imported.

    Attributes:
        bytes: how long the file is; no other length can be uploaded.
        connection_id: where the requests are asked, unless a line of ours names another.
        purpose: what they are for, unless a line of ours says it.
    """

    format: LlmImportFormat
    bytes: Annotated[int, Field(ge=1, le=limits.MAX_LLM_IMPORT_BYTES, strict=True)]
    connection_id: ConnectionId
    purpose: EnqueuedPurpose
    defaults: LlmImportDefaults = Field(default_factory=LlmImportDefaults)
    on_error: LlmImportRule = "rejectLine"


class LlmImportLineError(ResponseModel):
    """Why a line was rejected.

    Attributes:
        line: its number in the file, from 1.
        custom_id: the name that it gives, where that could be read; long ones are cut short.
        field: what is wrong, by its path in the line, such as ``body.max_tokens``.
    """

    line: int
    custom_id: str | None = None
    field: str | None = None
    message: str


class LlmImportCounts(ResponseModel):
    """How far an import has come; empty lines count as lines and are neither.

    With ``rejectAll`` the file is read twice: ``lines`` are those of the present reading.
    """

    lines: int = 0
    bytes: int = 0
    enqueued: int = 0
    rejected: int = 0


class LlmImportUpload(ResponseModel):
    """Where the file goes: one ``PUT`` with these headers and the file as its body."""

    url: str
    headers: dict[str, str]
    expires_at: Timestamp


class LlmImportReport(ResponseModel):
    """All rejected lines, as JSON lines of ``LlmImportLineError``; ``url`` holds an hour."""

    url: str
    bytes: int
    lines: int


class LlmImport(ResponseModel):
    """A file of requests, and what became of its lines.

    Attributes:
        errors: the first 20 rejected lines; ``report`` has all, once the import has ended.
        waiting_because: what it waits for, while it does.
        upload: while the file is awaited.
    """

    id: str
    state: LlmImportState
    format: LlmImportFormat
    bytes: int
    connection_id: str
    purpose: str
    on_error: LlmImportRule
    counts: LlmImportCounts
    errors: list[LlmImportLineError] = []
    report: LlmImportReport | None = None
    error_code: LlmImportErrorCode | None = None
    waiting_because: str | None = None
    upload: LlmImportUpload | None = None
    created_at: Timestamp
    started_at: Timestamp | None = None
    completed_at: Timestamp | None = None
    expires_at: Timestamp


class LlmImportResponse(ResponseModel):
    """One import."""

    llm_import: Annotated[LlmImport, Field(alias="import")]


class LlmImportList(ResponseModel):
    """A page of imports, the youngest first, without links to upload or fetch anything."""

    imports: list[LlmImport]
    next_token: str | None = None
