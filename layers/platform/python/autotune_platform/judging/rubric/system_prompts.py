"""System prompts as templates: their normal form, and whether a text was written under one.

``{{name}}`` stands for what differs from one request to another. The rest is literal, and a text
matches where all of it stands there, in order.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache

from autotune_platform.runtime.normal_texts import stream_safe

_PLACEHOLDER = re.compile(r"\{\{([A-Za-z_][A-Za-z0-9_]{0,63})\}\}")


def normalized(prompt: str) -> str:
    """Return a prompt's normal form.

    That is NFC, with LF for ends of lines, without spaces at the ends of lines and without empty
    lines before and after. Case and inner spacing stay. Of more than ``MOST_MARKS_TOGETHER``
    combining characters in a row, so many at a time are put into their order. It takes time in
    proportion to the text, whatever stands in it.
    """
    text = unicodedata.normalize("NFC", stream_safe(prompt))
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = [line.rstrip() for line in text.split("\n")]
    first = next((place for place, line in enumerate(lines) if line), len(lines))
    last = next((place for place in range(len(lines), first, -1) if lines[place - 1]), first)
    return "\n".join(lines[first:last])


def placeholders(prompt: str) -> list[str]:
    """Return the names of a prompt's placeholders, each once, as they first stand there."""
    return list(dict.fromkeys(_PLACEHOLDER.findall(prompt)))


def is_written_under(prompt: str, text: str) -> bool:
    """Return whether a text is a prompt, with any text in place of each placeholder."""
    return filled_in(prompt, text) is not None


def filled_in(prompt: str, text: str) -> list[str] | None:
    """Return what stands in a text for a prompt's placeholders, in order; None where none matches.

    Both are compared in their normal form. Each literal segment is looked for behind the one before
    and taken where it first stands, so that this takes time in proportion to the text.
    """
    return _between(_segments(prompt), normalized(text))


def named_values(prompt: str, text: str) -> dict[str, str] | None:
    """Return what stands in a text for a prompt's placeholders, by name; None where none matches.

    Of a name that stands there more than once, what stands there first.
    """
    values = filled_in(prompt, text)
    if values is None:
        return None
    found: dict[str, str] = {}
    for name, value in zip(_PLACEHOLDER.findall(normalized(prompt)), values, strict=True):
        found.setdefault(name, value)
    return found


def with_values(prompt: str, values: Mapping[str, str]) -> str:
    """Return a prompt with values in place of its placeholders, each of which has one."""
    return _PLACEHOLDER.sub(lambda found: values[found[1]], prompt)


def has_normal_text(template: str, text: str) -> bool:
    """Return whether a text is a prompt, as ``is_written_under``, of both in their normal form."""
    return _between(_PLACEHOLDER.split(template)[::2], text) is not None


def literal_text(prompt: str) -> str:
    """Return what of a prompt is not in placeholders, in its normal form."""
    return "".join(_PLACEHOLDER.split(normalized(prompt))[::2])


def literal_characters(prompt: str) -> int:
    """Return how many characters of a prompt are not in placeholders."""
    return len(literal_text(prompt))


@lru_cache(maxsize=8)
def _segments(prompt: str) -> Sequence[str]:
    """Return what of a prompt is literal; it is the same one for all samples of an upload."""
    return _PLACEHOLDER.split(normalized(prompt))[::2]


def _between(segments: Sequence[str], text: str) -> list[str] | None:
    first, last = segments[0], segments[-1]
    if len(segments) == 1:
        return [] if text == first else None
    end = len(text) - len(last)
    if not text.startswith(first) or not text.endswith(last) or end < len(first):
        return None
    values, at = [], len(first)
    for segment in segments[1:-1]:
        found = text.find(segment, at, end)
        if found < 0:
            return None
        values.append(text[at:found])
        at = found + len(segment)
    return [*values, text[at:end]]
