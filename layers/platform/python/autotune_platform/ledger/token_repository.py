"""Where tokens of OpenAI's batch API are stored."""

from collections.abc import Sequence

from autotune.protocol import llm_tokens as wire
from autotune_platform.access.capabilities import HashedCapability
from autotune_platform.storage.registry import EntityRepository


class Token(HashedCapability):
    """What lets programs ask through a connection."""

    connection_id: str
    purpose: str
    scopes: Sequence[wire.LlmTokenScope]
    retention_days: int | None = None


class TokenRepository(EntityRepository[Token]):
    """Tokens in the ``registry`` table."""

    model = Token
    kind = "llt"
    listed_as = "llmToken"
    named = "token"
    is_counted = True
