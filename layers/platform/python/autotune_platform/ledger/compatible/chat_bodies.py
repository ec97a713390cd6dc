"""Reading a chat completion that is to be passed through: what bounds its cost, and nothing else.

https://platform.openai.com/docs/api-reference/chat/create, as of August 2026.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from autotune.protocol import limits
from autotune.protocol.problems import FieldProblem
from autotune.protocol.types import nests_deeper_than
from autotune_platform.runtime.bounded_json import parse_strictly
from autotune_platform.runtime.errors import MalformedRequestError

DEFAULT_MAX_TOKENS: Final = 4_096
"""Most tokens of an answer where a program says nothing: the bound of a call follows from it."""

_LENGTHS = ("max_completion_tokens", "max_tokens")
# Not for the provider: it answers once, and in one piece.
_OURS = frozenset({"model", "stream", "stream_options", "n", *_LENGTHS})
_PARTS = frozenset({"text", "refusal"})
_TOOLS = frozenset({"function", "custom"})
_ANSWERED_IN_TEXT = (None, ["text"])


@dataclass(frozen=True)
class ChatBody:
    """What a program asks.

    Attributes:
        model: as it says it, with the connection before it.
        body: what the provider is sent, but for the model and the most tokens of an answer.
        unbounded: what has to be looked at by the provider's own names of what costs more.
    """

    model: str
    body: Mapping[str, Any]
    max_tokens: int
    unbounded: Mapping[str, Any]
    is_streamed: bool = False
    with_usage: bool = False


def chat_body_of(content: bytes) -> ChatBody:
    """Return what a program asks.

    Raises:
        MalformedRequestError: it is no such JSON, or what it costs could not be bounded.
    """
    document = parsed(content)
    options = document.get("stream_options")
    max_tokens = _max_tokens(document)
    if document.get("n") not in (None, 1):
        raise refused("n", "1", "one answer is passed through; ask again for another")
    if document.get("modalities") not in _ANSWERED_IN_TEXT:
        raise refused("modalities", "text alone")
    for name in ("tools", "functions"):
        _require_objects(document.get(name) or [], name)
    for place, tool in enumerate(document.get("tools") or []):
        if tool.get("type") not in _TOOLS:
            raise refused(f"tools[{place}].type", "function or custom", "others have a price")
    _require_texts(document.get("messages"))
    body = {name: value for name, value in document.items() if name not in _OURS}
    apart = {"messages", "tools", "functions", "function_call", "modalities"}
    return ChatBody(
        model=_text(document.get("model"), "model"),
        body=body,
        max_tokens=max_tokens,
        unbounded={name: value for name, value in body.items() if name not in apart},
        is_streamed=document.get("stream") is True,
        with_usage=isinstance(options, dict) and options.get("include_usage") is True,
    )


def parsed(content: bytes) -> dict[str, Any]:
    """Return the JSON object that a program sends.

    Raises:
        MalformedRequestError: it is none, nests too deep, or is no text that could be stored.
    """
    try:
        document = parse_strictly(content, most_values=limits.MAX_REQUEST_VALUES)
        # Halves of pairs are JSON, and no text that could be stored.
        json.dumps(document, ensure_ascii=False).encode()
    except ValueError as error:
        raise MalformedRequestError(
            "the body is not JSON",
            fields=[FieldProblem(field="body", expected="one JSON object in UTF-8")],
        ) from error
    if not isinstance(document, dict):
        raise refused("body", "one JSON object")
    if nests_deeper_than(document, limits.MAX_METADATA_DEPTH):
        raise refused("body", f"at most {limits.MAX_METADATA_DEPTH} levels")
    return document


def _max_tokens(document: Mapping[str, Any]) -> int:
    given = {name: document[name] for name in _LENGTHS if document.get(name) is not None}
    for name, value in given.items():
        is_count = isinstance(value, int) and not isinstance(value, bool)
        if not (is_count and 1 <= value <= limits.MAX_LLM_OUTPUT_TOKENS):
            raise refused(name, f"a whole number from 1 to {limits.MAX_LLM_OUTPUT_TOKENS}")
    if len(set(given.values())) > 1:
        raise refused(_LENGTHS[1], f"left out, as there is {_LENGTHS[0]}")
    return next(iter(given.values()), DEFAULT_MAX_TOKENS)


def _require_texts(messages: Any) -> None:
    """Require messages whose tokens their bytes bound: an image has a few, and costs thousands."""
    if not isinstance(messages, list) or not messages:
        raise refused("messages", "a list with a message at least")
    if len(messages) > limits.MAX_LLM_MESSAGES:
        raise refused("messages", f"at most {limits.MAX_LLM_MESSAGES} messages")
    _require_objects(messages, "messages")
    for place, message in enumerate(messages):
        _text(message.get("role"), f"messages[{place}].role")
        if message.get("audio") is not None:
            raise refused(f"messages[{place}].audio", "left out: texts alone are passed through")
        within = f"messages[{place}].content"
        content = message.get("content")
        if not isinstance(content, str | list | None):
            raise refused(within, "a text, a list of parts, or null")
        parts = content if isinstance(content, list) else []
        if len(parts) > limits.MAX_LLM_MESSAGE_PARTS:
            raise refused(within, f"at most {limits.MAX_LLM_MESSAGE_PARTS} parts")
        _require_objects(parts, within)
        for number, part in enumerate(parts):
            if part.get("type") not in _PARTS:
                raise refused(
                    f"{within}[{number}].type",
                    "text or refusal",
                    "texts alone are passed through: nothing says before a call what others cost",
                )


def _require_objects(values: Any, within: str) -> None:
    if not isinstance(values, list):
        raise refused(within, "a list")
    for place, value in enumerate(values):
        if not isinstance(value, dict):
            raise refused(f"{within}[{place}]", "an object")


def _text(value: Any, field: str) -> str:
    if not isinstance(value, str) or not value:
        raise refused(field, "a text")
    return value


def refused(field: str, expected: str, why: str | None = None) -> MalformedRequestError:
    """Return the error of one parameter."""
    detail = f"expected {expected}" + (f": {why}" if why else "")
    return MalformedRequestError.of_field(field, expected, detail=detail)
