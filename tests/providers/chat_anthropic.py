"""Messages as Anthropic speaks them.

https://platform.claude.com/docs/en/api/messages, read on 2026-11-22.
"""

from typing import Any

from tests.providers import strict
from tests.providers.answers import Ask
from tests.providers.dialects import DIALECTS
from tests.providers.execution import Outcome
from tests.providers.state import World
from tests.providers.wire import Answer, ProviderError

_BLOCK = strict.shape(
    required={"type": strict.choice("text"), "text": strict.text(least=1)},
    optional={"cache_control": strict.nullable(strict.mapping), "citations": strict.anything},
)
_CONTENT = strict.either(strict.text(least=1), strict.items(_BLOCK, least=1))
_MESSAGE = strict.shape(
    required={"role": strict.choice("user", "assistant", "system"), "content": _CONTENT}
)
_OUTPUT_CONFIG = strict.shape(
    optional={
        "effort": strict.nullable(strict.choice("low", "medium", "high", "xhigh", "max")),
        "format": strict.nullable(
            strict.shape(required={"type": strict.choice("json_schema"), "schema": strict.mapping})
        ),
    }
)
FIELDS: dict[str, strict.Spec] = {
    "cache_control": strict.nullable(strict.mapping),
    "container": strict.nullable(strict.string),
    "inference_geo": strict.nullable(strict.string),
    "metadata": strict.shape(optional={"user_id": strict.nullable(strict.text(most=256))}),
    "output_config": _OUTPUT_CONFIG,
    "service_tier": strict.choice("auto", "standard_only"),
    "speed": strict.nullable(strict.choice("standard", "fast")),
    "stop_sequences": strict.items(strict.text(least=1)),
    "stream": strict.refusing_true,
    "system": strict.either(strict.string, strict.items(_BLOCK)),
    "temperature": strict.between(strict.number, 0, 1),
    "thinking": strict.mapping,
    "tool_choice": strict.mapping,
    "tools": strict.items(strict.mapping),
    "top_k": strict.between(strict.integer, 0, 10_000),
    "top_p": strict.between(strict.number, 0, 1),
}
REQUIRED: dict[str, strict.Spec] = {
    "model": strict.text(least=1),
    "max_tokens": strict.between(strict.integer, 1, 1_000_000),
    "messages": strict.items(_MESSAGE, least=1),
}
_SHAPE = strict.shape(required=REQUIRED, optional=FIELDS)
# A batch takes neither streams nor speed.
PARAMS = strict.shape(
    required=REQUIRED,
    optional={name: spec for name, spec in FIELDS.items() if name not in ("stream", "speed")},
)
_TYPES = {
    "key": "authentication_error",
    "unknown_model": "not_found_error",
    "not_found": "not_found_error",
    "rate": "rate_limit_error",
    "server": "api_error",
    "too_large": "request_too_large",
}
_FINISH = {"stop": "end_turn", "length": "max_tokens", "refusal": "refusal"}


def _texts(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(block["text"] for block in content)
    return content


def read_checked(body: Any, model: str | None = None) -> Ask:
    """What a request asks that was checked before."""
    form = (body.get("output_config") or {}).get("format") or {}
    return Ask(
        model=model or body["model"],
        system=_texts(body.get("system", "")),
        texts=tuple(_texts(message["content"]) for message in body["messages"]),
        max_tokens=body["max_tokens"],
        json_schema=form.get("schema"),
    )


class Messages:
    """Anthropic's dialect."""

    # Anthropic reports an empty account as an invalid request.
    credit_status = 400
    credit_message = (
        "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing "
        "to upgrade or purchase credits."
    )

    def read(self, body: Any, model: str | None = None) -> Ask:
        _SHAPE(body, "")
        return read_checked(body, model)

    def render(self, outcome: Outcome, world: World) -> dict[str, Any]:
        execution = outcome.execution
        content: list[dict[str, Any]] = [{"type": "text", "text": outcome.text}]
        if outcome.reasoning:
            content.insert(
                0, {"type": "thinking", "thinking": outcome.reasoning, "signature": "c2lnbg=="}
            )
        body: dict[str, Any] = {
            "id": f"msg_{execution.token}",
            "type": "message",
            "role": "assistant",
            "model": outcome.served_model,
            "content": content,
            "stop_reason": _FINISH[outcome.finish],
            "stop_sequence": None,
            "stop_details": None,
        }
        if outcome.finish == "refusal":
            body["stop_details"] = {"type": "refusal", "category": None, "explanation": None}
        if outcome.tells_usage:
            # Unlike OpenAI's, these input tokens leave out those that were read from the cache.
            body["usage"] = {
                "input_tokens": execution.input_tokens - execution.cached_tokens,
                "cache_read_input_tokens": execution.cached_tokens,
                "cache_creation_input_tokens": 0,
                "output_tokens": execution.output_tokens,
                "service_tier": "batch" if execution.mode == "batch" else "standard",
            }
        return body

    def row_error(self, status: int, message: str) -> Any:
        names = {429: "rate_limit_error", 529: "overloaded_error", 401: "authentication_error"}
        kind = names.get(status) or (
            "invalid_request_error" if 400 <= status < 500 else "api_error"
        )
        return {"type": "error", "error": {"type": kind, "message": message}, "request_id": None}

    def error(self, error: ProviderError) -> Answer:
        kind = _TYPES.get(error.code, "invalid_request_error")
        if error.status == 529:
            kind = "overloaded_error"
        document = {
            "type": "error",
            "error": {"type": kind, "message": error.message},
            "request_id": "req_fake",
        }
        answer = Answer.json(document, error.status)
        if error.retry_after:
            answer.headers["retry-after"] = str(error.retry_after)
        return answer


DIALECTS["anthropic"] = Messages()
