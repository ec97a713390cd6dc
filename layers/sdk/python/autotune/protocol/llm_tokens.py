"""Tokens on the wire: what lets programs that know OpenAI's batch API ask through a connection."""

from typing import Annotated, Literal

from pydantic import Field

from autotune.protocol import limits
from autotune.protocol.llm_requests import ConnectionId, EnqueuedPurpose
from autotune.protocol.types import Moment, Name, RequestModel, ResponseModel, Timestamp

LlmTokenState = Literal["active", "revoked", "expired"]

LlmTokenScope = Literal["read", "write"]
"""``write``: ask chat completions, upload and delete files, create and cancel batches. ``read``:
everything else.
"""

DEFAULT_PURPOSE = "openai_batch"

_RetentionDays = Annotated[int, Field(ge=limits.MIN_RETENTION_DAYS, le=limits.MAX_RETENTION_DAYS)]


class CreateLlmTokenRequest(RequestModel):
    """A token for one program; what it asks goes to the connection and is paid there.

    Attributes:
        purpose: what its requests are for.
        expires_at: when it stops working, in the future; without it, once it is revoked.
        retention_days: when texts of its requests go, and files earlier than after 7 days; without
            it, texts stay until they are deleted.
    """

    name: Name
    connection_id: ConnectionId
    purpose: EnqueuedPurpose = DEFAULT_PURPOSE
    scopes: Annotated[list[LlmTokenScope], Field(min_length=1, max_length=2)] = ["read", "write"]
    expires_at: Moment | None = None
    retention_days: _RetentionDays | None = None


class LlmToken(ResponseModel):
    """A token without its secret, of which ``ends_with`` are the last four characters.

    ``created_by`` is the key that made it.
    """

    id: str
    name: str
    connection_id: str
    purpose: str
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
