"""Reads the YAML of an ``apprentice.yaml``, bounded, with the line of every value.

PyYAML scans and parses; values are built here. Plain scalars mean what the core schema of YAML 1.2
says: ``no`` and ``off`` are texts, and ``1:30`` is no number of seconds.
"""

import math
import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from autotune.client.apprentice_files.faults import (
    ApprenticeFileError,
    ApprenticeFileFault,
    Path,
    dotted,
)

MOST_BYTES = 1_000_000
"""Largest file."""

MOST_DEPTH = 40
"""Deepest nesting of lists and mappings; schemas of outputs need most of it."""

MOST_VALUES = 50_000
"""Most keys and values."""

_MOST_DIGITS = 18
_MOST_FAULTS = 100
_PARTS_NAMED = 4
_MOST_KEY_CHARACTERS = 200
_INTEGER = re.compile(r"[-+]?[0-9]+")
_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


@dataclass
class YamlText:
    """What a file says.

    Attributes:
        value: of the whole; mappings have keys that are texts.
        lines: on which each value begins, with its key; from 1.
        numerals: how each plain number is written, which its value no longer says.
        faults: keys that stand twice, and values that cannot be.
    """

    value: Any = None
    lines: dict[Path, int] = field(default_factory=dict)
    numerals: dict[Path, str] = field(default_factory=dict)
    faults: list[ApprenticeFileFault] = field(default_factory=list)

    def line_of(self, path: Path) -> int:
        """Return the line of a value, or of the nearest that it is within."""
        for length in range(len(path), -1, -1):
            if path[:length] in self.lines:
                return self.lines[path[:length]]
        return 1


def read_yaml(text: str, *, source: str) -> YamlText:
    """Return what one YAML document says, with the faults that let the rest be read.

    Raises:
        ApprenticeFileError: it is no YAML, larger or deeper than it may be, or has aliases.
    """
    size = len(text.encode(errors="replace"))
    if size > MOST_BYTES:
        expected = f"expected at most {MOST_BYTES} bytes, not {size}"
        raise ApprenticeFileError(source, [ApprenticeFileFault(1, "", expected)])
    try:
        reading = _Reading(text)
        reading.read()
    except _EndsReadingError as error:
        fault = ApprenticeFileFault(error.line, dotted(error.path), error.expected)
        raise ApprenticeFileError(source, [fault]) from error
    return reading.found


class _EndsReadingError(Exception):
    """A fault after which nothing more of the text is read."""

    def __init__(self, line: int, expected: str, path: Path = ()) -> None:
        super().__init__(expected)
        self.line = line
        self.expected = expected
        self.path = path


class _Reading:
    """One reading of a text: takes PyYAML's events as they come, so that limits end it early."""

    def __init__(self, text: str) -> None:
        self.found = YamlText()
        self._values = 0
        self._depth = 0
        try:
            self._loader: Any = yaml.SafeLoader(text)
        except yaml.reader.ReaderError as error:
            line = text.count("\n", 0, error.position) + 1
            code = error.character if isinstance(error.character, int) else ord(error.character)
            raise _EndsReadingError(line, f"a character that YAML has not, U+{code:04X}") from error

    def read(self) -> None:
        """Read the one document of the text.

        Raises:
            _EndsReadingError: it cannot be read any further.
        """
        self._next()  # the beginning of the stream
        event = self._next()
        if isinstance(event, yaml.StreamEndEvent):
            return
        self.found.value = self._value(self._next(), ())
        self._next()  # the end of the document
        after = self._next()
        if not isinstance(after, yaml.StreamEndEvent):
            raise _EndsReadingError(_line(after), "expected one document, not a second one")

    def _next(self) -> Any:
        try:
            return self._loader.get_event()
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            said = ", ".join(part for part in (error.context, error.problem) if part)
            raise _EndsReadingError(mark.line + 1 if mark else 1, f"no YAML: {said}") from error
        except (ValueError, OverflowError) as error:
            # PyYAML makes a character of whatever number stands in an escape.
            line = self._loader.line + 1
            raise _EndsReadingError(line, "no YAML: an escape that is no character") from error

    def _value(self, event: Any, path: Path) -> Any:
        self._values += 1
        if self._values > MOST_VALUES:
            raise _EndsReadingError(_line(event), f"expected at most {MOST_VALUES} values", path)
        self.found.lines.setdefault(path, _line(event))
        if isinstance(event, yaml.AliasEvent):
            expected = f"aliases such as *{event.anchor} are not taken: write out what is meant"
            raise _EndsReadingError(_line(event), expected, path)
        if event.tag not in (None, "!"):
            raise _EndsReadingError(_line(event), "tags such as !!str are not taken", path)
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event, path)
        if self._depth >= MOST_DEPTH:
            expected = f"expected at most {MOST_DEPTH} levels of lists and mappings"
            raise _EndsReadingError(_line(event), expected, path[:_PARTS_NAMED])
        self._depth += 1
        is_mapping = isinstance(event, yaml.MappingStartEvent)
        value = self._mapping(path) if is_mapping else self._sequence(path)
        self._depth -= 1
        return value

    def _sequence(self, path: Path) -> list[Any]:
        values: list[Any] = []
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            values.append(self._value(event, (*path, len(values))))
        return values

    def _mapping(self, path: Path) -> dict[str, Any]:
        values: dict[str, Any] = {}
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            key = self._key(event, path)
            within = (*path, key)
            if key in values:
                first = self.found.lines[within]
                self._fault(event, within, f"this key stands on line {first} already")
                self._value(self._next(), (*path, f"{key}, again on line {_line(event)}"))
                continue
            self.found.lines[within] = _line(event)
            values[key] = self._value(self._next(), within)
        return values

    def _key(self, event: Any, path: Path) -> str:
        self._values += 1
        if not isinstance(event, yaml.ScalarEvent) or event.tag not in (None, "!"):
            what = "aliases are not taken: " if isinstance(event, yaml.AliasEvent) else ""
            raise _EndsReadingError(_line(event), f"{what}expected a key that is a text", path)
        if len(event.value) > _MOST_KEY_CHARACTERS:
            expected = f"expected a key of at most {_MOST_KEY_CHARACTERS} characters"
            raise _EndsReadingError(_line(event), expected, path)
        return str(self._text(event, path))

    def _scalar(self, event: Any, path: Path) -> Any:
        text = event.value
        if event.tag is not None or not event.implicit[0]:
            return self._text(event, path)  # in quotes, or a block
        if text in _WORDS:
            return _WORDS[text]
        if _NUMBER.fullmatch(text) is None:
            return self._text(event, path)
        self.found.numerals[path] = text
        is_integer = _INTEGER.fullmatch(text) is not None
        if is_integer and len(text.lstrip("+-")) > _MOST_DIGITS:
            self._fault(event, path, f"expected a number of at most {_MOST_DIGITS} digits")
            return 0
        number = int(text) if is_integer else float(text)
        if not math.isfinite(number):
            self._fault(event, path, "expected a number that is finite")
            return 0
        return number

    def _text(self, event: Any, path: Path) -> str:
        text = str(event.value)
        if any("\ud800" <= one <= "\udfff" for one in text):
            self._fault(event, path, "expected characters, not half of one: a lone surrogate")
            return "?"
        return text

    def _fault(self, event: Any, path: Path, expected: str) -> None:
        if len(self.found.faults) >= _MOST_FAULTS:
            raise _EndsReadingError(_line(event), expected, path)
        self.found.faults.append(ApprenticeFileFault(_line(event), dotted(path), expected))


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1
