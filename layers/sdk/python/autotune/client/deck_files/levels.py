"""Reads the seven levels of a grader in a deck file: a list of Markdown, or a table of TOML."""

import re
from collections.abc import Mapping

from autotune.client.deck_files.faults import FaultError, Path
from autotune.client.deck_files.sections import Line, Section, is_blank
from autotune.client.deck_files.toml_blocks import Place
from autotune.protocol.levels import LEVELS

LEVEL_NAMES = [f"{level:+d}" if level else "0" for level in LEVELS]
"""How files name the levels, from -3 to +3."""

_MINUS = "\N{MINUS SIGN}"
_NUMBER = rf"([+\-{_MINUS}]?\d+)"
_LEVEL = re.compile(rf"[-*][ \t]+(?:\*\*{_NUMBER}\*\*:|\*\*{_NUMBER}:\*\*|{_NUMBER}:)(?: (.*))?")


def levels_in_table(value: object, path: Path, place: Place) -> tuple[list[object], Place]:
    """Return what a table says of the levels, from -3 to +3, and where each stands.

    Args:
        path: of the levels within the deck.
        place: of what the table has, by its keys.

    Raises:
        FaultError: it does not say each level once.
    """
    line = place(())
    if not isinstance(value, Mapping):
        raise FaultError(line, f"expected a table of the levels {', '.join(LEVEL_NAMES)}", path)
    keys: dict[str, str] = {}
    for key in value:
        name = _level_named(key, place((key,)), path)
        if name in keys:
            raise FaultError(place((key,)), f"level {name} is there already, as {keys[name]}", path)
        keys[name] = key
    missing = [name for name in LEVEL_NAMES if name not in keys]
    if missing:
        raise FaultError(line, f"expected seven levels; there is no {', '.join(missing)}", path)

    def place_of(below: Path) -> int:
        return place((keys[LEVEL_NAMES[int(below[0])]], *below[1:]) if below else ())

    return [value[keys[name]] for name in LEVEL_NAMES], place_of


def levels_in_list(section: Section, path: Path) -> tuple[list[object], Place]:
    """Return what a list says of the levels, from -3 to +3, and where each stands.

    Raises:
        FaultError: it does not say each level once, or there is something else.
    """
    texts: dict[str, list[str]] = {}
    lines: dict[str, int] = {}
    for part in section.stripped:
        text = part.text if isinstance(part, Line) else ""
        if (level := _LEVEL.fullmatch(text)) is not None:
            *numbers, first = level.groups()
            name = _level_named(next(filter(None, numbers)), part.line, path)
            if name in texts:
                raise FaultError(part.line, f"level {name} is on line {lines[name]} already", path)
            texts[name], lines[name] = [first or ""], part.line
        elif isinstance(part, Line) and texts and (text.startswith("  ") or is_blank(text)):
            texts[next(reversed(texts))].append(text[2:])
        else:
            expected = (
                "expected a list of seven levels, such as `- **+3**: Answers the question.`; "
                "further lines of a level begin with two spaces"
            )
            raise FaultError(part.line, expected, path)
    said = {name: _without_blank_end(text) for name, text in texts.items()}
    return levels_in_table(said, path, lambda at: lines[str(at[0])] if at else section.line)


def _level_named(said: str, line: int, path: Path) -> str:
    plain = said.replace(_MINUS, "-").removeprefix("+")
    name = next((one for one in LEVEL_NAMES if one.removeprefix("+") == plain), None)
    if name is None:
        raise FaultError(line, f"expected a level from -3 to +3, not {said[:20]}", path)
    return name


def _without_blank_end(lines: list[str]) -> str:
    while len(lines) > 1 and is_blank(lines[-1]):
        lines.pop()
    return "\n".join(lines)
