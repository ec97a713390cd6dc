"""A whole answer as the events of a stream, for programs that ask for one.

https://platform.openai.com/docs/api-reference/chat-streaming, as of August 2026. A provider is
asked for the answer in one piece: its usage has to be known before a row can be settled.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from autotune.protocol.compact_json import compact

# What each chunk repeats of the answer.
_COMMON = ("id", "created", "model", "service_tier", "system_fingerprint", "provider")


def as_events(answer: Mapping[str, Any], *, with_usage: bool) -> str:
    """Return an answer as server-sent events, the last of which is ``[DONE]``.

    Args:
        with_usage: whether a chunk with the usage, and without choices, comes before it.
    """
    documents = [compact(chunk) for chunk in _chunks(answer, with_usage=with_usage)]
    return "".join(f"data: {document}\n\n" for document in [*documents, "[DONE]"])


def _chunks(answer: Mapping[str, Any], *, with_usage: bool) -> Iterator[dict[str, Any]]:
    common = {name: answer[name] for name in _COMMON if name in answer}
    common["object"] = "chat.completion.chunk"
    choices = answer.get("choices")
    usage: dict[str, Any] = {"usage": None} if with_usage else {}
    for choice in choices if isinstance(choices, list) else []:
        if isinstance(choice, dict):
            for delta in _deltas(choice):
                yield {**common, "choices": [delta], **usage}
    if with_usage:
        yield {**common, "choices": [], "usage": answer.get("usage")}


def _deltas(choice: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    message = choice.get("message")
    said = {
        name: value
        for name, value in (message if isinstance(message, dict) else {}).items()
        if value is not None
    }
    called = said.get("tool_calls")
    if isinstance(called, list):
        said["tool_calls"] = [
            {"index": place, **one} for place, one in enumerate(called) if isinstance(one, dict)
        ]
    index = choice.get("index", 0)
    logprobs = {"logprobs": choice["logprobs"]} if choice.get("logprobs") else {}
    yield {"index": index, "delta": said, "finish_reason": None, **logprobs}
    yield {"index": index, "delta": {}, "finish_reason": choice.get("finish_reason")}
