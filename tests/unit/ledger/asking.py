"""Questions, connections and answers that tests of providers share."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from autotune.protocol.ids import new_id
from autotune.protocol.llm_connections import LlmProvider
from autotune.protocol.llm_params import LlmParams
from autotune_platform.ledger.bedrock_access import bedrock_url
from autotune_platform.ledger.calls import Answer, Outcome, Question, Refusal, Turn
from autotune_platform.ledger.connections import BASE_URLS
from autotune_platform.ledger.models import Connection
from autotune_platform.ledger.providers.registry import format_of

KEY = "sk-test-0123456789abcdef"
PROVIDERS: tuple[LlmProvider, ...] = (
    "openai",
    "azure",
    "anthropic",
    "gemini",
    "openrouter",
    "simulated",
)
_OWN_URLS: Mapping[LlmProvider, str] = {
    "bedrock": bedrock_url("eu-west-1"),
    "azure": "https://example.openai.azure.com",
    "simulated": "https://models.example.com:8000/v1",
}


def connection(provider: LlmProvider, **changes: Any) -> Connection:
    now = datetime.now(UTC)
    return Connection(
        **{
            "id": new_id("llc"),
            "organization_id": new_id("org"),
            "name": "c",
            "provider": provider,
            "base_url": {**BASE_URLS, **_OWN_URLS}[provider],
            "created_at": now,
            "updated_at": now,
            **changes,
        }
    )


def question(
    model: str = "m",
    *,
    system: str | None = "Be brief.",
    user: str = "Name a colour.",
    **params: Any,
) -> Question:
    instructions = [Turn("system", system)] if system else []
    return Question(
        model=model,
        turns=[*instructions, Turn("user", user)],
        params=LlmParams(**{"max_tokens": 50, **params}),
    )


def asked(
    provider: LlmProvider, of: Question, key: str | None = KEY, **changes: Any
) -> tuple[str, dict[str, str], Any]:
    """Return URL, headers and body of a question."""
    sent = format_of(provider).question(connection(provider, **changes), key, of)
    return sent.url, dict(sent.headers), json.loads(sent.body)


def outcome(
    provider: LlmProvider,
    document: Any,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    key: str | None = KEY,
) -> Outcome:
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    return format_of(provider).outcome(status, headers or {}, body, key)


def answer(
    provider: LlmProvider, document: Any, headers: Mapping[str, str] | None = None
) -> Answer:
    found = outcome(provider, document, headers=headers)
    assert isinstance(found, Answer), found
    return found


def refusal(
    provider: LlmProvider,
    document: Any,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> Refusal:
    found = outcome(provider, document, status, headers)
    assert isinstance(found, Refusal), found
    return found
