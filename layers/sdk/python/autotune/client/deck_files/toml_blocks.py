"""TOML in a deck file: what it says, and on which line of the file it says it."""

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from autotune.client.deck_files.faults import FaultError, Path

# Strings and comments are one token each, so that what is in them is no bracket and no end of line.
# No repetition gives back what it took.
_TOKEN = re.compile(
    r'''
    """ (?: [^"\\] | \\. | "(?!"") )*+ "{3,5}
    | \'{3} (?: [^'] | '(?!\'\') )*+ '{3,5}
    | " (?: [^"\\\n] | \\. )*+ "
    | ' [^'\n]*+ '
    | \# [^\n]*+
    | [\[\]{}\n]
    ''',
    re.VERBOSE | re.DOTALL,
)
_DEEPEST = 16
"""No field of a deck lies deeper; the line of what does is that of what it is within."""
_PLACE = re.compile(r" \(at line (\d+), column \d+\)$")

Place = Callable[[Path], int]
"""Returns the line of what is below a value."""


class TomlBlock:
    """A front matter or a fence of TOML.

    Attributes:
        line: of the file, on which the block's delimiter stands.
        values: what the block says.

    Raises:
        FaultError: the text is no TOML.
    """

    def __init__(self, text: str, line: int) -> None:
        self.line = line
        self._text = text
        try:
            self.values: dict[str, Any] = tomllib.loads(text)
        except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
            said = str(error)
            place = _PLACE.search(said)
            at = line + int(place[1]) if place else line + text.count("\n") + 1
            reason = _PLACE.sub("", said).removesuffix(" (at end of document)")
            raise FaultError(at, f"expected TOML: {reason}") from error

    def at(self, *start: int | str) -> "Place":
        """Return where what is below a value of the block stands."""
        return lambda path: self.line_of((*start, *path))

    def line_of(self, path: Path) -> int:
        """Return the line on which a value begins, or the nearest of what it is within."""
        for length in range(len(path), 0, -1):
            if (line := self._lines.get(path[:length])) is not None:
                return line
        return self.line

    @cached_property
    def _lines(self) -> Mapping[Path, int]:
        """The line on which each value begins."""
        lines: dict[Path, int] = {}
        table: Path = ()
        counts: dict[Path, int] = {}
        for line, said, is_header in self._statements():
            if is_header:
                table = _table_of(said, counts)
            for path in [table] if is_header else _paths_in(said, table):
                lines.setdefault(path, self.line + line)
        return lines

    def _statements(self) -> Iterator[tuple[int, dict[str, Any], bool]]:
        """Yield each statement with its first line, and whether it is the header of a table."""
        line = 1
        for text in _statement_texts(self._text):
            plain = text.strip()
            if plain and not plain.startswith("#"):
                # Blank lines before it are texts of their own.
                yield line, tomllib.loads(plain), plain.startswith("[")
            line += text.count("\n")


def _statement_texts(text: str) -> Iterator[str]:
    """Yield the statements, comments and blank lines of valid TOML, each with its end of line."""
    begin = depth = 0
    for token in _TOKEN.finditer(text):
        sign = token[0]
        if sign in ("[", "{"):
            depth += 1
        elif sign in ("]", "}"):
            depth -= 1
        elif sign == "\n" and not depth:
            yield text[begin : token.end()]
            begin = token.end()
    yield text[begin:]


def _table_of(header: Mapping[str, Any], counts: dict[Path, int]) -> Path:
    """Return the path of the table that a header begins; those of a list are counted."""
    path: Path = ()
    within: Any = header
    while isinstance(within, Mapping) and within:
        ((name, within),) = within.items()
        path = (*path, name)
    if isinstance(within, list):
        counts[path] = counts.get(path, -1) + 1
        path = (*path, counts[path])
    return path


def _paths_in(value: Any, path: Path) -> Iterator[Path]:
    if len(path) >= _DEEPEST:
        return
    members: Iterable[tuple[int | str, Any]] = ()
    if isinstance(value, Mapping):
        members = value.items()
    elif isinstance(value, list):
        members = enumerate(value)
    for name, inner in members:
        yield (*path, name)
        yield from _paths_in(inner, (*path, name))
