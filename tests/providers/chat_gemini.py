"""generateContent as Google speaks it: https://ai.google.dev/api/generate-content, 2026-11-22."""

from typing import Any

from tests.providers import strict
from tests.providers.answers import Ask
from tests.providers.dialects import DIALECTS
from tests.providers.execution import Outcome
from tests.providers.state import World
from tests.providers.wire import Answer, ProviderError

_PART = strict.shape(
    required={"text": strict.string},
    optional={"thought": strict.boolean, "thoughtSignature": strict.string},
)
_CONTENT = strict.shape(
    required={"parts": strict.items(_PART, least=1)},
    optional={"role": strict.choice("user", "model")},
)
_GENERATION: dict[str, strict.Spec] = {
    "candidateCount": strict.between(strict.integer, 1, 1),
    "enableEnhancedCivicAnswers": strict.boolean,
    "frequencyPenalty": strict.number,
    "logprobs": strict.integer,
    "maxOutputTokens": strict.between(strict.integer, 1, 1_000_000),
    "mediaResolution": strict.string,
    "presencePenalty": strict.number,
    "responseJsonSchema": strict.mapping,
    "responseLogprobs": strict.boolean,
    "responseMimeType": strict.string,
    "responseModalities": strict.items(strict.string),
    "responseSchema": strict.mapping,
    "seed": strict.integer,
    "stopSequences": strict.items(strict.string, most=5),
    "temperature": strict.between(strict.number, 0, 2),
    "thinkingConfig": strict.mapping,
    "topK": strict.number,
    "topP": strict.between(strict.number, 0, 1),
}
SHAPE = strict.shape(
    required={"contents": strict.items(_CONTENT, least=1)},
    optional={
        "cachedContent": strict.string,
        "generationConfig": strict.shape(optional=_GENERATION),
        "labels": strict.strings(most=64),
        "model": strict.text(pattern=r"models/.+"),
        "safetySettings": strict.items(strict.mapping),
        "serviceTier": strict.string,
        "store": strict.boolean,
        "systemInstruction": _CONTENT,
        "toolConfig": strict.mapping,
        "tools": strict.items(strict.mapping),
    },
)
_STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    409: "ABORTED",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
}
# google.rpc.Code, by which the rows of batches tell what was wrong.
_RPC = {400: 3, 401: 16, 403: 7, 404: 5, 429: 8, 500: 13, 503: 14}
_FINISH = {"stop": "STOP", "length": "MAX_TOKENS", "refusal": "SAFETY"}


def _texts(content: Any) -> str:
    return "\n".join(part["text"] for part in content["parts"])


class GenerateContent:
    """Gemini's dialect."""

    credit_status = 429
    credit_message = "You exceeded your current quota, please check your plan and billing details."

    def read(self, body: Any, model: str | None = None) -> Ask:
        SHAPE(body, "")
        config = body.get("generationConfig") or {}
        schema = config.get("responseJsonSchema") or config.get("responseSchema")
        return Ask(
            model=(model or body.get("model", "")).removeprefix("models/"),
            system=_texts(body["systemInstruction"]) if "systemInstruction" in body else "",
            texts=tuple(_texts(content) for content in body["contents"]),
            max_tokens=config.get("maxOutputTokens"),
            json_schema=_lower(schema) if schema else None,
            json_mode=config.get("responseMimeType") == "application/json",
        )

    def render(self, outcome: Outcome, world: World) -> dict[str, Any]:
        execution = outcome.execution
        body: dict[str, Any] = {
            "candidates": [
                {
                    "content": {"parts": [{"text": outcome.text}], "role": "model"},
                    "finishReason": _FINISH[outcome.finish],
                    "index": 0,
                }
            ],
            "modelVersion": outcome.served_model,
            "responseId": execution.token,
        }
        if outcome.tells_usage:
            # Thoughts are charged as output and counted apart from the candidates.
            body["usageMetadata"] = {
                "promptTokenCount": execution.input_tokens,
                "candidatesTokenCount": execution.output_tokens - execution.reasoning_tokens,
                "totalTokenCount": execution.input_tokens + execution.output_tokens,
            }
            if execution.reasoning_tokens:
                body["usageMetadata"]["thoughtsTokenCount"] = execution.reasoning_tokens
            if execution.cached_tokens:
                body["usageMetadata"]["cachedContentTokenCount"] = execution.cached_tokens
        return body

    def row_error(self, status: int, message: str) -> Any:
        return {"code": _RPC.get(status, 13 if status >= 500 else 2), "message": message}

    def error(self, error: ProviderError) -> Answer:
        document: dict[str, Any] = {
            "error": {
                "code": error.status,
                "message": error.message,
                "status": _STATUSES.get(error.status, "UNKNOWN"),
            }
        }
        if error.retry_after:
            document["error"]["details"] = [
                {
                    "@type": "type.googleapis.com/google.rpc.RetryInfo",
                    "retryDelay": f"{error.retry_after}s",
                }
            ]
        answer = Answer.json(document, error.status)
        if error.retry_after:
            answer.headers["retry-after"] = str(error.retry_after)
        return answer


def _lower(schema: Any) -> Any:
    """A schema whose types are written as JSON Schema writes them."""
    if isinstance(schema, dict):
        return {
            name: value.lower() if name == "type" and isinstance(value, str) else _lower(value)
            for name, value in schema.items()
        }
    return schema


DIALECTS["gemini"] = GenerateContent()
