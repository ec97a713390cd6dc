"""Tokens on the wire: what lets programs that know OpenAI's API ask a connection or a task."""

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from autotune.protocol import limits
from autotune.protocol.apprentice_names import TASK_NAME
from autotune.protocol.llm_requests import ConnectionId, EnqueuedPurpose
from autotune.protocol.types import Moment, Name, RequestModel, ResponseModel, Timestamp

LlmTokenState = Literal["active", "revoked", "expired"]

LlmTokenScope = Literal["read", "write"]
"""``write``: ask chat completions, upload and delete files, create and cancel batches. ``read``:
everything else.
"""

DEFAULT_PURPOSE = "openai_batch"

_TaskName = Annotated[str, StringConstraints(pattern=rf"^{TASK_NAME.pattern}$")]
_RetentionDays = Annotated[int, Field(ge=limits.MIN_RETENTION_DAYS, le=limits.MAX_RETENTION_DAYS)]


class CreateLlmTokenRequest(RequestModel):
    """A token for one program: of a connection, or of a task of the apprentice.

    Attributes:
        connection_id: what its requests go to, and where they are paid.
        apprentice_task: name of the task that answers its chat completions.
        purpose: what requests to a connection are for; ``openai_batch`` where it is left out.
        expires_at: when it stops working, in the future; without it, once it is revoked.
        retention_days: when texts of requests to a connection go, and files earlier than after 7
            days; without it, texts stay until they are deleted.
    """

    name: Name
    connection_id: ConnectionId | None = None
    apprentice_task: _TaskName | None = None
    purpose: EnqueuedPurpose | None = None
    scopes: Annotated[list[LlmTokenScope], Field(min_length=1, max_length=2)] = ["read", "write"]
    expires_at: Moment | None = None
    retention_days: _RetentionDays | None = None

    @model_validator(mode="after")
    def _of_one(self) -> Self:
        if (self.connection_id is None) == (self.apprentice_task is None):
            raise ValueError("exactly one of connectionId and apprenticeTask must be given")
        if self.apprentice_task is not None:
            for field, value in (("purpose", self.purpose), ("retentionDays", self.retention_days)):
                if value is not None:
                    raise ValueError(f"{field}: for a token of a connection alone")
        return self


class LlmToken(ResponseModel):
    """A token without its secret, of which ``ends_with`` are the last four characters.

    It is of a connection or of a task of the apprentice. One whose task was deleted is revoked.
    ``created_by`` is the key that made it.
    """

    id: str
    name: str
    connection_id: str | None = None
    apprentice_task: str | None = None
    purpose: str | None = None
    scopes: list[LlmTokenScope]
    state: LlmTokenState
    ends_with: str
    created_at: Timestamp
    created_by: str | None = None
    expires_at: Timestamp | None = None
    retention_days: int | None = None


class CreateLlmTokenResponse(ResponseModel):
    """``secret`` is shown this once; it is what the openai package takes as ``api_key``."""

    llm_token: Annotated[LlmToken, Field(alias="token")]
    secret: str


class LlmTokenResponse(ResponseModel):
    """One token."""

    llm_token: Annotated[LlmToken, Field(alias="token")]


class LlmTokenList(ResponseModel):
    """A page of tokens."""

    llm_tokens: Annotated[list[LlmToken], Field(alias="tokens")]
    next_token: str | None = None
