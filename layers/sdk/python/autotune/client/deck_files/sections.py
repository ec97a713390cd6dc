"""The Markdown of a deck file: headings, fences and what stands between them.

Headings of two levels and fences count where they begin a line. All else is text, as it is.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from autotune.client.deck_files.faults import FaultError

_HEADING = re.compile(r"(#{1,2})[ \t]+(.*)")
_OPENING = re.compile(r"(`{3,})([^`]*)|(~{3,})(.*)")
FRONT_MATTER = "+++"


@dataclass(frozen=True)
class Fence:
    """A fenced block.

    Attributes:
        line: on which it is opened.
        info: what follows the opening.
        text: what it holds, without the line break before its end.
        source: its lines as they are in the file.
    """

    line: int
    info: str
    text: str
    source: Sequence[str]


@dataclass(frozen=True)
class Line:
    """A line outside of fences."""

    line: int
    text: str

    @property
    def is_blank(self) -> bool:
        """Whether it has only spaces and tabs."""
        return is_blank(self.text)


@dataclass
class Section:
    """What follows a heading, up to the next."""

    depth: int
    title: str
    line: int
    body: list[Fence | Line] = field(default_factory=list)

    @property
    def stripped(self) -> list[Fence | Line]:
        """The body without blank lines before and after it."""
        held = [place for place, part in enumerate(self.body) if not _is_blank_line(part)]
        return self.body[held[0] : held[-1] + 1] if held else []

    def text(self) -> str:
        """Return what stands in the section: in its one fence, or as it is.

        Raises:
            FaultError: nothing stands there, or a fence of TOML.
        """
        body = self.stripped
        if not body:
            raise FaultError(self.line, f"expected text below {self.heading}")
        if len(body) == 1 and isinstance(body[0], Fence):
            only = body[0]
            if only.info == "toml":
                raise FaultError(only.line, f"expected text below {self.heading}, not TOML")
            return only.text
        return "\n".join(
            text
            for part in body
            for text in (part.source if isinstance(part, Fence) else [part.text])
        )

    @property
    def heading(self) -> str:
        """The heading, as it stands in the file."""
        return f"{'#' * self.depth} {self.title}"


def _is_blank_line(part: Fence | Line) -> bool:
    return isinstance(part, Line) and part.is_blank


def is_blank(line: str) -> bool:
    """Return whether a line has only spaces and tabs."""
    return not line.strip(" \t")


def front_matter(lines: Sequence[str]) -> tuple[str, int] | None:
    """Return the text between two lines of ``+++``, and how many lines it takes with them.

    None where the file does not begin with such a line.

    Raises:
        FaultError: the second is missing.
    """
    if not lines or lines[0].rstrip() != FRONT_MATTER:
        return None
    for number, line in enumerate(lines[1:], 1):
        if line.rstrip() == FRONT_MATTER:
            return "\n".join(lines[1:number]), number + 1
    raise FaultError(1, f"expected a second line {FRONT_MATTER}, which ends the front matter")


def sections(lines: Sequence[str], first_line: int) -> list[Section]:
    """Return the sections of a text; the first has no heading.

    Args:
        first_line: number of the text's first line in the file.

    Raises:
        FaultError: a fence has no end.
    """
    found = [Section(depth=0, title="", line=first_line)]
    place = 0
    while place < len(lines):
        number, line = first_line + place, lines[place]
        place += 1
        if (heading := _HEADING.fullmatch(line)) is not None:
            found.append(Section(len(heading[1]), heading[2].strip(" \t"), number))
        elif (opening := _OPENING.fullmatch(line)) is not None:
            end = _end_of(lines, place, opening[1] or opening[3])
            if end is None:
                raise FaultError(number, "expected an end of this fence: a line like its first")
            info = (opening[2] if opening[1] else opening[4]).strip()
            held = "\n".join(lines[place:end])
            found[-1].body.append(Fence(number, info, held, lines[place - 1 : end + 1]))
            place = end + 1
        else:
            found[-1].body.append(Line(number, line))
    return found


def fenced(text: str, info: str = "text") -> list[str]:
    """Return the lines of a fence that holds a text, whatever fences that has itself."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    ticks = "`" * max(3, longest + 1)
    return [f"{ticks}{info}", *(text.split("\n") if text else ()), ticks]


def _end_of(lines: Sequence[str], start: int, opening: str) -> int | None:
    end = re.compile(rf"{re.escape(opening)}{re.escape(opening[0])}*[ \t]*")
    return next((at for at in range(start, len(lines)) if end.fullmatch(lines[at])), None)
