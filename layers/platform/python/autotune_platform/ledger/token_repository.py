"""Where tokens of OpenAI's batch API are stored."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from autotune.protocol import llm_tokens as wire
from autotune_platform.storage.registry import Entity, EntityRepository


class Token(Entity):
    """What lets in; ``digest`` is the SHA-256 of its secret."""

    name: str
    connection_id: str
    purpose: str
    scopes: Sequence[wire.LlmTokenScope]
    digest: str
    ends_with: str
    status: Literal["active", "revoked"] = "active"
    created_at: datetime
    created_by: str | None = None
    expires_at: datetime | None = None
    retention_days: int | None = None

    def state_at(self, moment: datetime) -> wire.LlmTokenState:
        """Return the state at a moment; a revoked token stays revoked when it expires."""
        if self.status == "revoked":
            return "revoked"
        return "expired" if self.expires_at is not None and self.expires_at <= moment else "active"


class TokenRepository(EntityRepository[Token]):
    """Tokens in the ``registry`` table."""

    model = Token
    kind = "llt"
    listed_as = "llmToken"
    named = "token"
    is_counted = True
