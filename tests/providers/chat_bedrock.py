"""Converse, and Anthropic's bodies of InvokeModel, as Bedrock speaks them.

https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html, 2026-11-22.
"""

from typing import Any

from tests.providers import chat_anthropic, strict
from tests.providers.answers import Ask
from tests.providers.dialects import DIALECTS
from tests.providers.execution import Outcome
from tests.providers.state import World
from tests.providers.wire import Answer, ProviderError

_BLOCK = strict.shape(required={"text": strict.string})
_MESSAGE = strict.shape(
    required={
        "role": strict.choice("user", "assistant"),
        "content": strict.items(_BLOCK, least=1),
    }
)
_INFERENCE = strict.shape(
    optional={
        "maxTokens": strict.between(strict.integer, 1, 1_000_000),
        "temperature": strict.between(strict.number, 0, 1),
        "topP": strict.between(strict.number, 0, 1),
        "stopSequences": strict.items(strict.text(least=1), most=2500),
    }
)
_CONVERSE_FIELDS: dict[str, strict.Spec] = {
    "additionalModelRequestFields": strict.mapping,
    "additionalModelResponseFieldPaths": strict.items(strict.string, most=10),
    "guardrailConfig": strict.mapping,
    "inferenceConfig": _INFERENCE,
    "outputConfig": strict.mapping,
    "performanceConfig": strict.mapping,
    "promptVariables": strict.mapping,
    "requestMetadata": strict.strings(),
    "serviceTier": strict.mapping,
    "system": strict.items(_BLOCK),
    "toolConfig": strict.mapping,
}
_MESSAGES = {"messages": strict.items(_MESSAGE, least=1)}
_SHAPE = strict.shape(required=_MESSAGES, optional=_CONVERSE_FIELDS)
# Batch inference has neither tools nor structured output.
BATCH_SHAPE = strict.shape(
    required=_MESSAGES,
    optional={
        name: spec
        for name, spec in _CONVERSE_FIELDS.items()
        if name not in ("toolConfig", "outputConfig")
    },
)
_INVOKE = strict.shape(
    required={
        "anthropic_version": strict.choice("bedrock-2023-05-31"),
        **{name: spec for name, spec in chat_anthropic.REQUIRED.items() if name != "model"},
    },
    optional={
        name: chat_anthropic.FIELDS[name]
        for name in ("stop_sequences", "system", "temperature", "thinking", "top_k", "top_p")
    },
)
_FINISH = {"stop": "end_turn", "length": "max_tokens", "refusal": "content_filtered"}
_EXCEPTIONS = {
    "conflict": "ConflictException",
    "credit": "AccessDeniedException",
    "key": "UnrecognizedClientException",
    "not_found": "ResourceNotFoundException",
    "rate": "ThrottlingException",
    "server": "InternalServerException",
    "too_large": "ServiceQuotaExceededException",
    "unknown_model": "ResourceNotFoundException",
}


class Converse:
    """Bedrock's dialect."""

    credit_status = 403
    credit_message = "You don't have access to the model with the specified model ID."

    def read(self, body: Any, model: str | None = None, *, batch: bool = False) -> Ask:
        (BATCH_SHAPE if batch else _SHAPE)(body, "")
        return Ask(
            model=model or "",
            system="\n".join(block["text"] for block in body.get("system", [])),
            texts=tuple(
                "\n".join(block["text"] for block in message["content"])
                for message in body["messages"]
            ),
            max_tokens=(body.get("inferenceConfig") or {}).get("maxTokens"),
        )

    def render(self, outcome: Outcome, world: World) -> dict[str, Any]:
        execution = outcome.execution
        content: list[dict[str, Any]] = [{"text": outcome.text}]
        if outcome.reasoning:
            reasoning = {"reasoningText": {"text": outcome.reasoning}}
            content.insert(0, {"reasoningContent": reasoning})
        body: dict[str, Any] = {
            "output": {"message": {"role": "assistant", "content": content}},
            "stopReason": _FINISH[outcome.finish],
            "metrics": {"latencyMs": 12},
        }
        if outcome.tells_usage:
            body["usage"] = {
                "inputTokens": execution.input_tokens - execution.cached_tokens,
                "outputTokens": execution.output_tokens,
                "totalTokens": execution.input_tokens + execution.output_tokens,
                "cacheReadInputTokens": execution.cached_tokens,
                "cacheWriteInputTokens": 0,
            }
        return body

    def row_error(self, status: int, message: str) -> Any:
        return {"errorCode": status, "errorMessage": message}

    def error(self, error: ProviderError) -> Answer:
        name = _EXCEPTIONS.get(error.code, "ValidationException")
        if error.status == 503:
            name = "ServiceUnavailableException"
        answer = Answer.json({"message": error.message}, error.status)
        answer.headers["x-amzn-errortype"] = name
        if error.retry_after:
            answer.headers["retry-after"] = str(error.retry_after)
        return answer


class InvokedMessages(chat_anthropic.Messages):
    """Anthropic's bodies within Bedrock's batches; their errors are Bedrock's."""

    credit_status = Converse.credit_status
    credit_message = Converse.credit_message

    def read(self, body: Any, model: str | None = None) -> Ask:
        _INVOKE(body, "")
        return chat_anthropic.read_checked(body, model)

    def row_error(self, status: int, message: str) -> Any:
        return {"errorCode": status, "errorMessage": message}


DIALECTS["bedrock"] = Converse()
DIALECTS["bedrock_invoke"] = InvokedMessages()
