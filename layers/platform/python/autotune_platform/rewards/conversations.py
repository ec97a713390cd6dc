"""Conversations as one text, because a completion's prompt is one text.

A conversation of one message becomes the text of that message. Of several messages each becomes
``role: text``, in their order, with an empty line between them. Parts of a text follow each other
without a separator. A message that is not text, such as a tool call, becomes compact JSON with
sorted keys. Images, audio and files are refused, because no grader would see them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from autotune.protocol.compact_json import compact_sorted
from autotune_platform.runtime.errors import InvalidRequestError

_TEXT_PARTS = ("text", "input_text", "output_text", "refusal", "summary_text")
_EXPECTED_TEXT = "text, or parts that are text"


def as_text(messages: Sequence[Any], *, field: str) -> str:
    """Return a conversation as one text.

    Args:
        messages: as in OpenAI's APIs, of Chat Completions or of Responses.
        field: the path of the messages in the request.

    Raises:
        InvalidRequestError: there is no message, one is malformed, or a part is not text.
    """
    if not messages:
        raise InvalidRequestError.of_field(field, "at least one message")
    turns = [_turn(message, f"{field}[{index}]") for index, message in enumerate(messages)]
    if len(turns) == 1:
        return turns[0][1]
    return "\n\n".join(f"{role}: {text}" for role, text in turns)


def text_of(content: Any, *, field: str) -> str:
    """Return the text of a message's content: a string, parts, or nothing.

    Raises:
        InvalidRequestError: a part is not text.
    """
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise InvalidRequestError.of_field(field, _EXPECTED_TEXT)
    return "".join(_part(part, f"{field}[{index}]") for index, part in enumerate(content))


def _turn(message: Any, field: str) -> tuple[str, str]:
    """Return the role of a message, or the type of an item without a role, and its text."""
    if not isinstance(message, Mapping):
        raise InvalidRequestError.of_field(field, "a message with role and content")
    role = message.get("role")
    if not isinstance(role, str):
        kind = message.get("type")
        if not isinstance(kind, str):
            raise InvalidRequestError.of_field(f"{field}.role", "the role, as a text")
        return kind, compact_sorted(message)
    text = text_of(message.get("content"), field=f"{field}.content")
    calls = message.get("tool_calls")
    if not calls:
        return role, text
    return role, "\n".join(part for part in (text, compact_sorted(calls)) if part)


def _part(part: Any, field: str) -> str:
    if isinstance(part, Mapping) and part.get("type") in _TEXT_PARTS:
        text = part.get("text", part.get("refusal"))
        if isinstance(text, str):
            return text
    raise InvalidRequestError.of_field(field, "a part that is text")
