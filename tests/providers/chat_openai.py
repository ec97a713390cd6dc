"""Chat completions as OpenAI, Azure OpenAI, OpenRouter and OpenAI-compatible servers speak them.

https://developers.openai.com/api/reference/resources/chat and
https://openrouter.ai/docs/api/api-reference/chat, read on 2026-11-22.
"""

from typing import Any

from tests.providers import strict
from tests.providers.answers import Ask
from tests.providers.dialects import DIALECTS
from tests.providers.execution import Outcome
from tests.providers.state import World
from tests.providers.wire import Answer, ProviderError

_PART = strict.shape(
    required={"type": strict.choice("text"), "text": strict.string},
    optional={"cache_control": strict.mapping, "prompt_cache_breakpoint": strict.mapping},
)
_CONTENT = strict.either(strict.string, strict.items(_PART, least=1))
_MESSAGE = strict.shape(
    required={
        "role": strict.choice("system", "developer", "user", "assistant", "tool"),
        "content": strict.nullable(_CONTENT),
    },
    optional={
        "name": strict.string,
        "refusal": strict.nullable(strict.string),
        "tool_calls": strict.items(strict.mapping),
        "tool_call_id": strict.string,
    },
)
_RESPONSE_FORMAT = strict.either(
    strict.shape(required={"type": strict.choice("text", "json_object")}),
    strict.shape(
        required={
            "type": strict.choice("json_schema"),
            "json_schema": strict.shape(
                required={"name": strict.text(most=64, pattern=r"[a-zA-Z0-9_-]+")},
                optional={
                    "schema": strict.mapping,
                    "strict": strict.nullable(strict.boolean),
                    "description": strict.string,
                },
            ),
        }
    ),
)
_POSITIVE = strict.between(strict.integer, 1, 1_000_000)
FIELDS: dict[str, strict.Spec] = {
    "frequency_penalty": strict.nullable(strict.between(strict.number, -2, 2)),
    "logit_bias": strict.nullable(strict.mapping),
    "logprobs": strict.nullable(strict.boolean),
    "max_completion_tokens": strict.nullable(_POSITIVE),
    "max_tokens": strict.nullable(_POSITIVE),
    "metadata": strict.nullable(strict.strings()),
    "modalities": strict.nullable(strict.items(strict.choice("text"))),
    "n": strict.nullable(strict.between(strict.integer, 1, 1)),
    "parallel_tool_calls": strict.boolean,
    "presence_penalty": strict.nullable(strict.between(strict.number, -2, 2)),
    "prompt_cache_key": strict.nullable(strict.string),
    "prompt_cache_retention": strict.nullable(strict.choice("in_memory", "24h")),
    "reasoning_effort": strict.nullable(
        strict.choice("none", "minimal", "low", "medium", "high", "xhigh")
    ),
    "response_format": _RESPONSE_FORMAT,
    "safety_identifier": strict.nullable(strict.string),
    "seed": strict.nullable(strict.integer),
    "service_tier": strict.nullable(strict.choice("auto", "default", "flex", "scale", "priority")),
    "stop": strict.nullable(
        strict.either(strict.string, strict.items(strict.string, least=1, most=4))
    ),
    "store": strict.nullable(strict.boolean),
    "stream": strict.nullable(strict.refusing_true),
    "temperature": strict.nullable(strict.between(strict.number, 0, 2)),
    "tool_choice": strict.anything,
    "tools": strict.items(strict.mapping),
    "top_logprobs": strict.nullable(strict.between(strict.integer, 0, 20)),
    "top_p": strict.nullable(strict.between(strict.number, 0, 1)),
    "user": strict.string,
    "verbosity": strict.nullable(strict.choice("low", "medium", "high")),
}
_MORE_OF_OPENROUTER: dict[str, strict.Spec] = {
    "models": strict.items(strict.string),
    "plugins": strict.items(strict.mapping),
    "provider": strict.nullable(strict.mapping),
    "reasoning": strict.nullable(strict.mapping),
    "route": strict.nullable(strict.string),
    "session_id": strict.string,
    "top_k": strict.nullable(strict.integer),
    "transforms": strict.items(strict.string),
    "usage": strict.shape(optional={"include": strict.boolean}),
}
# vLLM takes its sampling parameters at the top level.
_MORE_OF_VLLM: dict[str, strict.Spec] = {
    "chat_template_kwargs": strict.mapping,
    "guided_choice": strict.items(strict.string),
    "guided_json": strict.anything,
    "min_p": strict.number,
    "min_tokens": strict.integer,
    "repetition_penalty": strict.number,
    "structured_outputs": strict.mapping,
    "top_k": strict.integer,
}
_TYPES = {
    "key": "invalid_request_error",
    "rate": "rate_limit_error",
    "server": "server_error",
    "credit": "insufficient_quota",
}
_CODES = {
    "key": "invalid_api_key",
    "unknown_model": "model_not_found",
    "rate": "rate_limit_exceeded",
    "credit": "insufficient_quota",
}
_FINISH = {"stop": "stop", "length": "length", "refusal": "content_filter"}


def _texts(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(part["text"] for part in content)
    return content or ""


class OpenAiChat:
    """One of the family; they differ in fields that they add and in how errors look."""

    credit_status = 429
    credit_message = "You exceeded your current quota, please check your plan and billing details."

    def __init__(
        self, provider: str, more: dict[str, strict.Spec] | None = None, *, needs_model: bool = True
    ) -> None:
        self._provider = provider
        model = {"model": strict.text(least=1)}
        required = {"messages": strict.items(_MESSAGE, least=1), **(model if needs_model else {})}
        optional = {**FIELDS, **(more or {}), **({} if needs_model else model)}
        self._shape = strict.shape(required=required, optional=optional)

    def read(self, body: Any, model: str | None = None) -> Ask:
        self._shape(body, "")
        messages = body["messages"]
        form = body.get("response_format") or {}
        return Ask(
            model=model or body["model"],
            system="\n".join(
                _texts(one["content"]) for one in messages if one["role"] in ("system", "developer")
            ),
            texts=tuple(
                _texts(one["content"])
                for one in messages
                if one["role"] not in ("system", "developer")
            ),
            max_tokens=body.get("max_completion_tokens") or body.get("max_tokens"),
            json_schema=(form.get("json_schema") or {}).get("schema"),
            json_mode=form.get("type") == "json_object",
        )

    def render(self, outcome: Outcome, world: World) -> dict[str, Any]:
        execution = outcome.execution
        refused = outcome.finish == "refusal"
        message: dict[str, Any] = {"role": "assistant", "content": outcome.text, "refusal": None}
        if refused and self._provider == "openai":
            message = {"role": "assistant", "content": None, "refusal": outcome.text}
        if self._provider == "openrouter":
            message["reasoning"] = outcome.reasoning
        elif self._provider == "compatible":
            message["reasoning_content"] = outcome.reasoning
        finish = _FINISH[outcome.finish]
        if refused and self._provider == "openai":
            finish = "stop"
        choice: dict[str, Any] = {
            "index": 0,
            "message": message,
            "logprobs": None,
            "finish_reason": finish,
        }
        body: dict[str, Any] = {
            "id": f"chatcmpl-{execution.token}",
            "object": "chat.completion",
            "created": int(outcome.at),
            "model": outcome.served_model,
            "choices": [choice],
        }
        if self._provider == "openrouter":
            choice["native_finish_reason"] = finish
            body["provider"], body["system_fingerprint"] = "OpenAI", None
        if self._provider in ("openai", "azure"):
            body["service_tier"], body["system_fingerprint"] = outcome.tier, "fp_fake"
        if outcome.tells_usage:
            body["usage"] = usage(outcome)
            if self._provider == "openrouter":
                body["usage"]["cost"] = execution.cost_nano_usd / 1e9
        return body

    def row_error(self, status: int, message: str) -> Any:
        if status == 0:
            return ""
        code = {429: "rate", 401: "key", 404: "unknown_model"}.get(status)
        if message == self.credit_message:
            code = "credit"
        name = code or ("server" if status >= 500 else "invalid")
        return self._document(ProviderError(status, name, message))

    def error(self, error: ProviderError) -> Answer:
        answer = Answer.json(self._document(error), error.status)
        if error.retry_after:
            answer.headers["retry-after"] = str(error.retry_after)
        return answer

    def _document(self, error: ProviderError) -> dict[str, Any]:
        if self._provider == "openrouter":
            return {"error": {"code": error.status, "message": error.message}}
        if self._provider == "azure" and error.code in ("key", "not_found", "unknown_model"):
            code = {"key": "401", "unknown_model": "DeploymentNotFound"}.get(error.code, "404")
            return {"error": {"code": code, "message": error.message}}
        return {
            "error": {
                "message": error.message,
                "type": _TYPES.get(error.code, "invalid_request_error"),
                "param": error.param,
                "code": _CODES.get(error.code),
            }
        }


def usage(outcome: Outcome) -> dict[str, Any]:
    execution = outcome.execution
    return {
        "prompt_tokens": execution.input_tokens,
        "completion_tokens": execution.output_tokens,
        "total_tokens": execution.input_tokens + execution.output_tokens,
        "prompt_tokens_details": {"cached_tokens": execution.cached_tokens, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": execution.reasoning_tokens,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }


class _OpenRouter(OpenAiChat):
    credit_status = 402
    credit_message = "Insufficient credits. Add more using https://openrouter.ai/settings/credits"


DIALECTS["openai"] = OpenAiChat("openai")
DIALECTS["azure"] = OpenAiChat("azure", needs_model=False)
DIALECTS["openrouter"] = _OpenRouter("openrouter", _MORE_OF_OPENROUTER, needs_model=False)
DIALECTS["compatible"] = OpenAiChat("compatible", _MORE_OF_VLLM)
