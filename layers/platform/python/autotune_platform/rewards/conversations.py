"""Conversations as one text, because that is what a completion's prompt is.

The rule: a conversation of one message is that message's text. Of several, each is ``role: text``
in its order, with an empty line between them. Parts of a text follow each other without anything in
between. What is not text but was said, such as a call of a tool, is told as compact JSON with
sorted keys. Images, audio and files are refused: no grader would see them.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from autotune_platform.runtime.errors import InvalidRequestError

_TEXT_PARTS = ("text", "input_text", "output_text", "refusal", "summary_text")
_EXPECTED_TEXT = "text, or parts that are text"


def as_text(messages: Sequence[Any], *, field: str) -> str:
    """Return a conversation as one text.

    Args:
        messages: as in OpenAI's APIs, of Chat Completions or of Responses.
        field: where they stand in the request.

    Raises:
        InvalidRequestError: there are none, one is no message, or one holds what is not text.
    """
    if not messages:
        raise InvalidRequestError.of_field(field, "at least one message")
    said = [_told(message, f"{field}[{place}]") for place, message in enumerate(messages)]
    if len(said) == 1:
        return said[0][1]
    return "\n\n".join(f"{role}: {text}" for role, text in said)


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
    return "".join(_part(part, f"{field}[{place}]") for place, part in enumerate(content))


def _told(message: Any, field: str) -> tuple[str, str]:
    """Return who said something, or what kind of thing it is, and its text."""
    if not isinstance(message, Mapping):
        raise InvalidRequestError.of_field(field, "a message with role and content")
    role = message.get("role")
    if not isinstance(role, str):
        kind = message.get("type")
        if not isinstance(kind, str):
            raise InvalidRequestError.of_field(f"{field}.role", "who says it, as a text")
        return kind, _as_json(message)
    text = text_of(message.get("content"), field=f"{field}.content")
    calls = message.get("tool_calls")
    if not calls:
        return role, text
    return role, "\n".join(part for part in (text, _as_json(calls)) if part)


def _part(part: Any, field: str) -> str:
    if isinstance(part, Mapping) and part.get("type") in _TEXT_PARTS:
        text = part.get("text", part.get("refusal"))
        if isinstance(text, str):
            return text
    raise InvalidRequestError.of_field(field, "a part that is text")


def _as_json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
