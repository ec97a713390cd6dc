"""Answers of models that are to be one JSON object: nothing is searched for inside a text."""

from typing import Any, Final

from autotune_platform.runtime.bounded_json import parse_strictly

_FENCES: Final = ("```json\n", "```\n")
_MOST_CHARACTERS: Final = 500_000


def one_object(raw: str, *, most_values: int) -> dict[str, Any] | None:
    """Return the one JSON object that a text is; a fence around all of it is taken off.

    None where it is none, or has too many values or more than half a million characters.
    """
    text = raw.strip()
    if len(text) > _MOST_CHARACTERS:
        return None
    for fence in _FENCES:
        if text.startswith(fence) and text.endswith("\n```"):
            text = text[len(fence) : -len("\n```")]
            break
    try:
        found = parse_strictly(text.encode(), most_values=most_values)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
