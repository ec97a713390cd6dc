"""Anthropic's messages.

As in https://platform.claude.com/docs/en/api/messages and /api/errors, as of August 2026.
"""

from collections.abc import Mapping
from typing import Any

from autotune.protocol.llm_params import LlmParams
from autotune.protocol.llm_requests import FinishReason
from autotune_platform.ledger.calls import Answer, HttpQuestion, Outcome, Question, Turn
from autotune_platform.ledger.models import Connection
from autotune_platform.ledger.providers import refusals
from autotune_platform.ledger.providers.documents import (
    all_of,
    detail,
    inside,
    name,
    text,
    tokens,
)
from autotune_platform.ledger.providers.json_format import (
    JsonFormat,
    json_question,
    present,
    words,
)
from autotune_platform.ledger.providers.refusals import Trouble, Vocabulary
from autotune_platform.ledger.providers.turns import apart, typed_content
from autotune_platform.ledger.usage import Usage

VERSION = "2023-06-01"

_HIGHEST_TEMPERATURE = 1
_FINISH_REASONS: Mapping[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}
_STATUS_OF_TYPE: Mapping[str, int] = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
_BLOCKED = "output_blocked"


class AnthropicFormat(JsonFormat):
    """Messages at ``base_url``/v1/messages.

    Low credit, spent limits and blocked outputs all come as ``invalid_request_error``: only their
    messages tell.
    """

    vocabulary = Vocabulary(
        account=frozenset(
            {
                "authentication_error",
                "billing_error",
                "enforced_spend_limit_reached",
                "permission_error",
            }
        ),
        filtered=frozenset({_BLOCKED}),
        paid=frozenset({_BLOCKED}),
        messages={
            "your credit balance is too low": "billing_error",
            "you have reached your specified api usage limits": "billing_error",
            "you have reached your specified workspace api usage limits": "billing_error",
            "this organization has been disabled": "billing_error",
            "output blocked by content filtering policy": _BLOCKED,
        },
    )
    own_fields = frozenset(
        {
            "container",
            "context_management",  # what it writes to make a text shorter is counted apart
            "inference_geo",
            "mcp_servers",
            "service_tier",
            "speed",
        }
    )

    def question(self, connection: Connection, key: str | None, asked: Question) -> HttpQuestion:
        """Return what is sent."""
        return json_question(
            f"{connection.base_url.rstrip('/')}/v1/messages", headers(key), self.body(asked), {}
        )

    def body(self, asked: Question) -> dict[str, Any]:
        """Return the body of a question; ``response_format`` is ``output_config.format`` there."""
        params = asked.params
        extra = dict(params.extra or {})
        config = extra.pop("output_config", None)
        instructions, said = apart(asked.turns)
        if params.response_format is not None:
            config = {**(config or {}), "format": params.response_format}
        own = {
            "model": asked.model,
            "max_tokens": params.max_tokens,
            "system": _system(instructions),
            "messages": [{"role": turn.role, "content": typed_content(turn)} for turn in said],
            "temperature": params.temperature,
            "top_p": params.top_p,
            "stop_sequences": params.stop,
            "output_config": config,
        }
        return {**extra, **present(own)}

    def unsupported(self, params: LlmParams) -> str | None:
        """Return the first field that Anthropic does not take, by its name on the wire."""
        if (params.temperature or 0) > _HIGHEST_TEMPERATURE:
            return "temperature"
        if params.seed is not None:
            return "seed"
        if not isinstance((params.extra or {}).get("output_config") or {}, dict):
            return "extra.output_config"
        # Writes for an hour cost more than what ``cost`` takes all writes for: those for minutes.
        cached = (params.extra or {}).get("cache_control")
        if isinstance(cached, dict) and cached.get("ttl", "5m") != "5m":
            return "extra.cache_control.ttl"
        return super().unsupported(params)

    def _trouble(self, status: int, document: Any) -> Trouble | None:
        error = inside(document, "error")
        if not isinstance(error, dict):
            return None
        began = 200 <= status < 300
        kind = error.get("type")
        return Trouble(
            status=status_of(kind) if began else status,
            words=words(kind, inside(error, "details", "error_code")),
            message=text(error.get("message")) or "",
            began=began,
        )

    def _answer(self, document: Any, request_id: str | None) -> Outcome:
        blocks = inside(document, "content")
        if not isinstance(blocks, list):
            return refusals.malformed("the answer has no content")
        reason = inside(document, "stop_reason")
        return Answer(
            text=_joined(blocks, "text") or "",
            finish_reason=_FINISH_REASONS.get(reason, "other")
            if isinstance(reason, str)
            else "other",
            usage=_usage(inside(document, "usage")),
            served_model=name(inside(document, "model")),
            provider_request_id=request_id or name(inside(document, "id")),
            reasoning=_joined(blocks, "thinking"),
        )


def headers(key: str | None) -> dict[str, str]:
    """Return the headers of every request."""
    return {"anthropic-version": VERSION, **({"x-api-key": key} if key else {})}


def status_of(kind: Any) -> int:
    """Return the status that errors of a type come with, 500 for those that are not known."""
    return _STATUS_OF_TYPE.get(kind, 500) if isinstance(kind, str) else 500


def _system(instructions: list[Turn]) -> str | list[dict[str, Any]] | None:
    """Return the instructions: one text as it is, and several as blocks."""
    if len(instructions) == 1:
        return typed_content(instructions[0])
    return [{"type": "text", "text": text} for turn in instructions for text in turn.texts] or None


def _joined(blocks: list[Any], kind: str) -> str | None:
    """Return the text of all blocks of a kind, whose text is in a member of the same name."""
    said = (text(inside(block, kind)) for block in blocks if inside(block, "type") == kind)
    return "".join(filter(None, said)) or None


def _usage(told: Any) -> Usage | None:
    """Return the usage; Anthropic's input tokens are those that no cache had or took."""
    found = all_of(
        tokens(inside(told, "input_tokens")),
        tokens(inside(told, "output_tokens")),
        detail(inside(told, "cache_read_input_tokens")),
        detail(inside(told, "cache_creation_input_tokens")),
        detail(inside(told, "output_tokens_details", "thinking_tokens")),
    )
    if found is None:
        return None
    fresh, answered, cached, written, reasoned = found
    if reasoned > answered:
        return None
    return Usage(
        input_tokens=fresh + cached + written,
        cached_input_tokens=cached,
        cache_write_tokens=written,
        output_tokens=answered,
        reasoning_tokens=reasoned,
    )
