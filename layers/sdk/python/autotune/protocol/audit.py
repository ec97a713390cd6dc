"""The audit log on the wire: what was called and what was decided, never any text of it."""

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from autotune.protocol.access import Role
from autotune.protocol.completions import DecidedBy, ReasonCode, VerdictState
from autotune.protocol.types import Generation, ResponseModel, Timestamp

AuditAction = Annotated[str, StringConstraints(pattern=r"^[a-z_]{1,64}$")]
"""Word for what was done: an ``operationId`` of the OpenAPI document, ``decide_completions``, or
the type of an event with ``_`` in place of its points, such as ``budget_warning``."""


class AuditedCall(ResponseModel):
    """One call of the API, answered or refused.

    Attributes:
        action: the call's ``operationId`` in the OpenAPI document, such as ``create_task``;
            ``unknown_route`` where there is none.
        authenticated: whether the key's signature was right; if not, the key is what was claimed.
        session_id: the session that signed in place of the key, which made it.
        route: path template; the ids in the path are in ``ids``, by name. What has not the shape
            of an id is recorded as ``invalid``.
        code: of the problem that was answered, if any.
        source_address: where the request came from.
    """

    id: str
    time: Timestamp
    kind: Literal["call"] = "call"
    action: str
    key_id: str | None = None
    session_id: str | None = None
    principal_id: str | None = None
    role: Role | None = None
    authenticated: bool
    method: str
    route: str | None = None
    ids: dict[str, str] = {}
    status: int
    code: str | None = None
    request_id: str
    source_address: str
    duration_ms: int


class DecidedCompletions(ResponseModel):
    """Completions that were decided in the same way."""

    state: VerdictState
    reason_code: ReasonCode | None = None
    decided_by: DecidedBy = "grader"
    completion_ids: list[str]


class AuditedDecision(ResponseModel):
    """Verdicts of one grader on completions of one batch, as they were counted: each once.

    ``time`` is when they were entered; ``decided_at`` is the latest decision among them.
    ``generation`` is there from 1 on, where they were scored again.
    """

    id: str
    time: Timestamp
    kind: Literal["decision"] = "decision"
    action: Literal["decide_completions"] = "decide_completions"
    batch_id: str
    grader_id: str
    grader_version: str
    generation: Generation = 0
    decided_at: Timestamp
    verdicts: list[DecidedCompletions]


class AuditedEvent(ResponseModel):
    """What happened without a call: a budget is short, a small model was trained, or may serve.

    It is the event that webhooks get; ``time`` is when it happened.

    Attributes:
        action: ``budget_warning``, ``budget_exhausted``, ``model_promoted``,
            ``apprentice_canary``, ``apprentice_alarm`` or ``apprentice_training``.
        event_id: what webhooks have as ``webhook-id``.
        data: what webhooks have as ``data``, without names.
    """

    id: str
    time: Timestamp
    kind: Literal["event"] = "event"
    action: AuditAction
    event_id: str
    data: dict[str, Any]


AuditEntry = Annotated[AuditedCall | AuditedDecision | AuditedEvent, Field(discriminator="kind")]


class AuditEntryList(ResponseModel):
    """A page of entries, the newest first."""

    entries: list[AuditEntry]
    next_token: str | None = None
