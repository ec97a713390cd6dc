"""Writes TOML 1.0: the part of it that deck files have, in one way for each value.

The standard library reads TOML and does not write it.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPES = {
    "\b": "\\b",
    "\t": "\\t",
    "\n": "\\n",
    "\f": "\\f",
    "\r": "\\r",
    '"': '\\"',
    "\\": "\\\\",
}
_TO_ESCAPE = re.compile(r'[\x00-\x1f\x7f"\\]')
_TO_ESCAPE_IN_LINES = re.compile(r'[\x00-\x08\x0b-\x1f\x7f\\]|""+|"\Z')


def table(
    values: Mapping[str, Any], *, multiline: Callable[[str], bool] = lambda text: "\n" in text
) -> list[str]:
    """Return the lines of a table's own keys.

    Args:
        multiline: whether a text keeps its lines; else it is on one, with escapes.
    """
    return [
        f"{key(name)} = {_lines(value) if _is(multiline, value) else inline(value)}"
        for name, value in values.items()
    ]


def key(name: str) -> str:
    """Return a key, in quotes where it needs them."""
    return name if _BARE_KEY.fullmatch(name) else string(name)


def string(text: str) -> str:
    """Return a text on one line."""
    return f'"{_TO_ESCAPE.sub(_escaped, text)}"'


def _is(multiline: Callable[[str], bool], value: Any) -> bool:
    return isinstance(value, str) and multiline(value)


def _lines(text: str) -> str:
    return f'"""\n{_TO_ESCAPE_IN_LINES.sub(_escaped, text)}"""'


def has_null(value: Any) -> bool:
    """Return whether JSON has a null somewhere, which TOML cannot say."""
    if isinstance(value, Mapping):
        return any(map(has_null, value.values()))
    if isinstance(value, list | tuple):
        return any(map(has_null, value))
    return value is None


def inline(value: Any) -> str:
    """Return a value of JSON without nulls on one line."""
    if isinstance(value, str):
        return string(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Mapping):
        members = [f"{key(name)} = {inline(one)}" for name, one in value.items()]
        return _within("{ ", members, " }") if members else "{}"
    return _within("[", map(inline, value), "]")


def _within(opening: str, parts: Iterable[str], closing: str) -> str:
    return f"{opening}{', '.join(parts)}{closing}"


def _escaped(found: re.Match[str]) -> str:
    return "".join(_ESCAPES.get(one) or f"\\u{ord(one):04x}" for one in found[0])
