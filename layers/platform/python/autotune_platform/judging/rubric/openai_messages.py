"""What is where in the JSON of OpenAI's chat completions, for all who read texts of it.

See https://platform.openai.com/docs/api-reference/chat. Nothing here raises: what has another shape
than it should has no texts. Who takes such JSON in says first what is wrong with it.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from autotune.protocol.compact_json import compact_sorted

INSTRUCTIONS: Final = frozenset({"system", "developer"})
"""Roles of messages that are the system prompt."""


def first_answer(response: Mapping[str, Any]) -> Any:
    """Return the message of a response's first choice; None where it has no choice."""
    choices = response.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first.get("message") if isinstance(first, Mapping) else None


def texts_of(content: Any) -> Iterator[str]:
    """Yield what is text in a message's content: a text, or a list of parts."""
    for part in _parts(content):
        text = _text_in(part)
        if text is not None:
            yield text


def message_text(message: Mapping[str, Any]) -> str:
    """Return all that a message says, as a judge reads it.

    Parts that are no text are named in brackets, such as ``[image_url]``. Tool calls, which are
    compact JSON, and a refusal are part of it.
    """
    said = [_named(part) for part in _parts(message.get("content"))]
    calls = message.get("tool_calls") or message.get("function_call")
    if calls:
        said += [compact_sorted(one) for one in (calls if isinstance(calls, list) else [calls])]
    refusal = message.get("refusal")
    if isinstance(refusal, str):
        said.append(refusal)
    return "\n".join(said)


def _parts(content: Any) -> list[Any]:
    if isinstance(content, str):
        return [content]
    return content if isinstance(content, list) else []


def _text_in(part: Any) -> str | None:
    text = part.get("text") if isinstance(part, Mapping) else part
    return text if isinstance(text, str) else None


def _named(part: Any) -> str:
    text = _text_in(part)
    if text is not None or not isinstance(part, Mapping):
        return text or ""
    # Its type comes from outside, too, and is a word.
    kind = str(part.get("type", ""))
    return f"[{kind if kind.isidentifier() else 'part'}]"
