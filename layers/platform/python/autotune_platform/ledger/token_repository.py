"""Where tokens of OpenAI's API are stored."""

from collections.abc import Sequence

from autotune.protocol import llm_tokens as wire
from autotune_platform.access.capabilities import HashedCapability
from autotune_platform.runtime.errors import ForbiddenError
from autotune_platform.storage.registry import EntityRepository


class Token(HashedCapability):
    """What lets programs ask through a connection, or a task of the apprentice: one of the two.

    Attributes:
        apprentice_task_id: which task it was that had the name; another one of the same name
            begins with no tokens.
        purpose: of requests to a connection.
    """

    connection_id: str | None = None
    apprentice_task: str | None = None
    apprentice_task_id: str | None = None
    purpose: str | None = None
    scopes: Sequence[wire.LlmTokenScope]
    retention_days: int | None = None

    @property
    def asks(self) -> str:
        """The connection that it asks.

        Raises:
            ForbiddenError: it asks a task.
        """
        if self.connection_id is None:
            raise ForbiddenError(
                f"this token asks chat completions of the task {self.apprentice_task}, and no more"
            )
        return self.connection_id


class TokenRepository(EntityRepository[Token]):
    """Tokens in the ``registry`` table."""

    model = Token
    kind = "llt"
    listed_as = "llmToken"
    named = "token"
    is_counted = True
