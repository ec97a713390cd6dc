"""Chat completions: OpenAI's, and those of the many who took them over.

The shapes are those of https://platform.openai.com/docs/api-reference/chat and
https://openrouter.ai/docs/api/reference/errors-and-debugging, as of August 2026.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal
from urllib.parse import urlsplit

from aws_lambda_powertools import Logger

from autotune.protocol.llm_messages import LlmRole
from autotune.protocol.llm_requests import FinishReason
from autotune_platform.ledger.calls import Answer, HttpQuestion, Outcome, Question, Turn
from autotune_platform.ledger.models import Connection
from autotune_platform.ledger.providers import refusals
from autotune_platform.ledger.providers.documents import (
    all_of,
    detail,
    inside,
    items,
    name,
    text,
    tokens,
)
from autotune_platform.ledger.providers.json_format import JsonFormat, json_question, words
from autotune_platform.ledger.providers.refusals import Trouble, Vocabulary
from autotune_platform.ledger.providers.turns import typed_content
from autotune_platform.ledger.usage import Usage

logger = Logger()

_STANDARD_TIER, _DEARER_TIERS = "default", frozenset({"priority"})
"""The tier that listed prices are of, and those that cost more."""
_DEARER_TIMES = 2
"""So many times the standard price ``priority`` costs at most, as of August 2026 (1.67 to 2):
https://openai.com/api-priority-processing"""
OPENAI_HOSTS = ("api.openai.com",)
"""Whose projects have tiers, those of regions included; others may refuse what they do not know."""

_FINISH_REASONS: Mapping[str, FinishReason] = {
    "stop": "stop",
    "length": "length",
    "content_filter": "refusal",
}
_ACCOUNT_WORDS = frozenset(
    {
        "access_terminated",
        "account_deactivated",
        "billing_hard_limit_reached",
        "billing_not_active",
        "credit_balance_exhausted",
        "insufficient_quota",
        "invalid_api_key",
        "organization_spend_limit_exceeded",
        "organization_usage_limit_exceeded",
        "project_spend_limit_exceeded",
    }
)
# OpenRouter tells what a moderator found of the input in the error's metadata.
_FLAGGED = "flagged_input"
# OpenRouter's choice of who answers, each at a price of its own: the listed one is not the dearest.
_ROUTING = (
    "ignore",
    "only",
    "order",
    "preferred_max_latency",
    "preferred_min_throughput",
    "sort",
)
_STATUS_OF_WORD: Mapping[str, int] = {
    "authentication_error": 401,
    "insufficient_quota": 429,
    "invalid_request_error": 400,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
}


class OpenAiFormat(JsonFormat):
    """Chat completions at ``base_url``/chat/completions, with the key as a bearer token."""

    vocabulary = Vocabulary(
        account=_ACCOUNT_WORDS,
        filtered=frozenset(
            {"content_filter", "content_policy_violation", "invalid_prompt", _FLAGGED}
        ),
    )
    own_fields = frozenset(
        {
            "audio",
            "chat_template",  # vLLM's: what is read is made by it, however long that is
            "extra_body",  # LiteLLM's: all that is refused here may stand in it
            "fallbacks",  # LiteLLM's, as OpenRouter's models
            "function_call",
            "functions",
            "models",  # OpenRouter's: others that are asked where the first fails
            "modalities",
            "prediction",  # what is refused of it is paid as output, beyond the most of an answer
            "plugins",  # OpenRouter's: searches, at a price for each
            "preset",  # OpenRouter's: a model and a system text that are kept there
            "route",
            "service_tier",
            "web_search_options",
        }
    )

    def __init__(
        self,
        limit_field: Literal["max_completion_tokens", "max_tokens"] = "max_tokens",
        *,
        names_tier: bool = False,
    ) -> None:
        """Name the field that bounds the tokens of an answer; OpenAI's newer models want theirs.

        Args:
            names_tier: whether single calls of OpenAI itself ask for the standard tier. A project
                may have a dearer one for calls that name none.
        """
        self._limit_field = limit_field
        self._names_tier = names_tier

    def unbounded(self, members: Mapping[str, Any]) -> str | None:
        """Return the first member of a request that the bound of its cost does not allow for."""
        routing = members.get("provider")
        chosen = [field for field in _ROUTING if isinstance(routing, dict) and field in routing]
        return f"provider.{chosen[0]}" if chosen else super().unbounded(members)

    def question(self, connection: Connection, key: str | None, asked: Question) -> HttpQuestion:
        """Return what is sent; without a key, no authorisation."""
        extra = asked.params.extra or {}
        return self.post(connection, key, asked.model, self.members(asked), extra)

    def passed(
        self,
        connection: Connection,
        key: str | None,
        model: str,
        body: Mapping[str, Any],
        max_tokens: int,
    ) -> HttpQuestion:
        """Return what is sent of a chat completion that somebody else has written."""
        return self.post(connection, key, model, {self._limit_field: max_tokens}, body)

    def post(
        self,
        connection: Connection,
        key: str | None,
        model: str,
        own: Mapping[str, Any],
        extra: Mapping[str, Any],
    ) -> HttpQuestion:
        """Return a request for a model; without a key, it has no authorisation."""
        return json_question(
            f"{connection.base_url.rstrip('/')}/chat/completions",
            {"Authorization": f"Bearer {key}"} if key else {},
            {"model": model, **own, "service_tier": self._tier(connection)},
            extra,
        )

    def _tier(self, connection: Connection) -> str | None:
        host = urlsplit(connection.base_url).hostname or ""
        is_asked = self._names_tier and f".{host}".endswith(
            tuple(f".{one}" for one in OPENAI_HOSTS)
        )
        return _STANDARD_TIER if is_asked else None

    def members(self, asked: Question) -> dict[str, Any]:
        """Return the members of a question's body that are ours, but the model; some are None."""
        params = asked.params
        return {
            "messages": [
                {"role": self._role(turn), "content": typed_content(turn)} for turn in asked.turns
            ],
            self._limit_field: params.max_tokens,
            "temperature": params.temperature,
            "top_p": params.top_p,
            "stop": params.stop,
            "seed": params.seed,
            "response_format": params.response_format,
        }

    def unsupported_turn(self, turns: Sequence[Turn]) -> int | None:  # noqa: ARG002 - any will do
        """Return None: instructions may stand anywhere."""
        return None

    def _role(self, turn: Turn) -> LlmRole:
        """Return a turn's role; only OpenAI and Azure know developers, who are their system."""
        knows_developers = self._limit_field == "max_completion_tokens"
        return "system" if turn.role == "developer" and not knows_developers else turn.role

    def _trouble(self, status: int, document: Any) -> Trouble | None:
        # Some hold one in the choice that it ended; vLLM's of old is the document itself.
        candidates = (
            inside(document, "error"),
            inside(document, "choices", 0, "error"),
            document if inside(document, "object") == "error" else None,
        )
        for error in candidates:
            if isinstance(error, str) and error:
                return Trouble(
                    _status(status, None, frozenset()), frozenset(), error, _began(status)
                )
            if isinstance(error, dict) and error:
                return _told(status, error)
        if inside(document, "choices", 0, "finish_reason") == "error":
            return Trouble(_status(status, None, frozenset()), frozenset(), "", _began(status))
        if _began(status):
            return None
        # What stands before the provider has words of its own: gateways, web frameworks.
        said = (
            text(inside(document, "message"))
            or text(inside(document, "detail"))
            or text(inside(document, "detail", 0, "msg"))
        )
        return Trouble(status, words(inside(document, "code")), said) if said else None

    def _answer(self, document: Any, request_id: str | None) -> Outcome:
        choice = inside(document, "choices", 0)
        message = inside(choice, "message")
        content = inside(message, "content")
        if not isinstance(message, dict) or not isinstance(content, str | list | None):
            return refusals.malformed("the answer has no message")
        said, thought, refused = _parts(content)
        refused = text(message.get("refusal")) or refused
        reasoning = text(message.get("reasoning")) or text(message.get("reasoning_content"))
        reason = inside(choice, "finish_reason")
        finished = _FINISH_REASONS.get(reason, "other") if isinstance(reason, str) else "other"
        return Answer(
            text=said or refused or "",
            finish_reason="refusal" if refused else finished,
            usage=usage_of(inside(document, "usage")),
            price_times=_price_times(document),
            served_model=name(inside(document, "model")),
            provider_request_id=request_id or name(inside(document, "id")),
            reasoning=reasoning or thought,
        )


def _price_times(document: Any) -> int:
    """Return how many times the listed price an answer costs at most, by the tier that it names."""
    tier = inside(document, "service_tier")
    if isinstance(tier, str) and tier in _DEARER_TIERS:
        logger.warning("answered at a dearer tier; charged at the bound at least", tier=tier)
        return _DEARER_TIMES
    return 1


def _parts(content: str | list[Any] | None) -> tuple[str | None, str | None, str | None]:
    """Return the text, the reasoning and the refusal of a message's content."""
    if not isinstance(content, list):
        return text(content), None, None
    said, thought, refused = [], [], []
    for part in content:
        kind = inside(part, "type")
        if isinstance(part, str):
            said.append(part)
        elif kind in {"text", "output_text"}:
            said.append(inside(part, "text"))
        elif kind == "refusal":
            refused.append(inside(part, "refusal"))
        elif kind == "thinking":  # Mistral's
            inner = inside(part, "thinking")
            thought += [inside(one, "text") for one in items(inner)] or [inner]
    return _joined(said), _joined(thought), _joined(refused)


def _joined(parts: list[Any]) -> str | None:
    return "".join(filter(None, map(text, parts))) or None


def usage_of(told: Any) -> Usage | None:
    """Return the usage of one answer, or of a job, None where it does not add up."""
    found = all_of(
        tokens(inside(told, "prompt_tokens")),
        tokens(inside(told, "completion_tokens")),
        detail(inside(told, "total_tokens")),
        detail(inside(told, "prompt_tokens_details", "cached_tokens")),
        detail(inside(told, "prompt_tokens_details", "cache_write_tokens")),
        detail(inside(told, "completion_tokens_details", "reasoning_tokens")),
    )
    if found is None:
        return None
    sent, answered, total, cached, written, reasoned = found
    # Some leave reasoning out of the completion's tokens; the total has all that is paid.
    answered = max(answered, total - sent)
    if cached + written > sent or reasoned > answered:
        return None
    return Usage(
        input_tokens=sent,
        cached_input_tokens=cached,
        cache_write_tokens=written,
        output_tokens=answered,
        reasoning_tokens=reasoned,
    )


def _told(status: int, error: Mapping[str, Any]) -> Trouble:
    code = error.get("code")
    metadata = error.get("metadata")
    said = words(
        code,
        error.get("type"),
        inside(error, "innererror", "code"),
        _FLAGGED if inside(metadata, _FLAGGED) is not None else None,
    )
    # OpenRouter: "Provider returned error", and what that said.
    messages = (text(error.get("message")), text(inside(metadata, "raw")))
    return Trouble(
        status=_status(status, code, said),
        words=said,
        message=": ".join(filter(None, messages)),
        began=_began(status),
    )


def _began(status: int) -> bool:
    return 200 <= status < 300


def _status(status: int, code: Any, said: frozenset[str]) -> int:
    """Return the status of an error, which came with another one or inside of a 200."""
    if not _began(status):
        return status
    if isinstance(code, str) and code.isascii() and code.isdigit():
        code = int(code[:3])
    if isinstance(code, int) and 400 <= code < 600:
        return code
    return next((_STATUS_OF_WORD[word] for word in sorted(said) if word in _STATUS_OF_WORD), 500)
