"""TOML in a deck file: what it says, and on which line of the file it says it."""

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from autotune.client.deck_files.faults import FaultError, Path

# The end of a value is looked for by reading it anew at each line.
_LINES_OF_A_VALUE = 2_000
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
        lines = self._text.split("\n")
        place = 0
        while place < len(lines):
            first = lines[place].strip()
            if not first or first.startswith("#"):
                place += 1
                continue
            for end in range(place + 1, min(place + _LINES_OF_A_VALUE, len(lines)) + 1):
                try:
                    said = tomllib.loads("\n".join(lines[place:end]))
                except ValueError:
                    continue
                yield place + 1, said, first.startswith("[")
                break
            else:
                return
            place = end


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
    members: Iterable[tuple[int | str, Any]] = ()
    if isinstance(value, Mapping):
        members = value.items()
    elif isinstance(value, list):
        members = enumerate(value)
    for name, inner in members:
        yield (*path, name)
        yield from _paths_in(inner, (*path, name))
