"""Requests as the output file of OpenAI's batch API has them.

The layout is that of https://platform.openai.com/docs/api-reference/batch/request-output, as of
August 2026.
"""

from collections.abc import Mapping
from typing import Any

from autotune.protocol.llm_requests import FinishReason, LlmRequest

_FINISH_REASONS: Mapping[FinishReason, str] = {
    "stop": "stop",
    "length": "length",
    "refusal": "content_filter",
    "other": "stop",
}


def openai_result(request: LlmRequest) -> dict[str, Any]:
    """Return the line of a request that has ended."""
    error: dict[str, Any] | None = None
    response: dict[str, Any] | None = None
    if request.status == "completed":
        response = {
            "status_code": 200,
            "request_id": request.provider_request_id or request.id,
            "body": _completion(request),
        }
    else:
        found = request.error
        error = {
            "code": found.code if found else request.status,
            "message": found.message if found else f"the request is {request.status}",
        }
    return {
        "id": request.id,
        "custom_id": request.custom_id or request.id,
        "response": response,
        "error": error,
    }


def _completion(request: LlmRequest) -> dict[str, Any]:
    message = {"role": "assistant", "content": request.raw_output, "refusal": None}
    if request.finish_reason == "refusal":
        message |= {"content": None, "refusal": request.raw_output}
    choice = {
        "index": 0,
        "message": message,
        "logprobs": None,
        "finish_reason": _FINISH_REASONS[request.finish_reason or "other"],
    }
    body: dict[str, Any] = {
        "id": request.provider_request_id or request.id,
        "object": "chat.completion",
        "created": int(request.updated_at.timestamp()),
        "model": request.served_model or request.model,
        "choices": [choice],
    }
    usage = request.usage
    if usage is not None:
        body["usage"] = {
            "prompt_tokens": usage.input_tokens,
            "completion_tokens": usage.output_tokens,
            "total_tokens": usage.input_tokens + usage.output_tokens,
            "prompt_tokens_details": {"cached_tokens": usage.cached_input_tokens},
            "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        }
    return body
