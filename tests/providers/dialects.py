"""Each provider's way of asking, answering and complaining.

The fields that requests may have are those of the providers' API references and of the request
types of their SDKs (openai 3.54, anthropic 2.12, google-genai 3.4, openrouter 1.3, botocore 1.44),
read on 2026-11-22.
"""

from typing import Any, Protocol

from tests.providers.answers import Ask
from tests.providers.execution import Outcome
from tests.providers.state import World
from tests.providers.wire import Answer, ProviderError


class Dialect(Protocol):
    """What the lifecycle and the routes need of a provider's language."""

    credit_status: int
    credit_message: str

    def read(self, body: Any, model: str | None = None) -> Ask:
        """What a request asks.

        Raises:
            RefusedError: If it is not as documented.
        """

    def render(self, outcome: Outcome, world: World) -> dict[str, Any]:
        """The answer's body."""

    def row_error(self, status: int, message: str) -> Any:
        """The body of a row that failed."""

    def error(self, error: ProviderError) -> Answer:
        """The answer to a request that failed."""


DIALECTS: dict[str, Dialect] = {}
