"""Cutting a file into chunks of lines, in memory that its longest line bounds.

Where a chunk ends follows from the file and its beginning alone, never from time or memory: a chunk
that is done again after a crash has the same lines.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from autotune.protocol.limits import MAX_LLM_IMPORT_LINE_BYTES

CHUNK_BYTES = 3_000_000
"""Where a chunk ends, unless its first line is longer."""

_BOM = b"\xef\xbb\xbf"

WINDOW_BYTES = MAX_LLM_IMPORT_LINE_BYTES + len(_BOM) + len(b"\r\n")
"""How much is read at a time: the longest line with all that is around it, and so any chunk."""


@dataclass(frozen=True)
class Line:
    """A line with its number, from 1; ``text`` is None where it is too long."""

    number: int
    text: bytes | None


@dataclass(frozen=True)
class Chunk:
    """Lines that are done together.

    Attributes:
        lines: those that are not empty.
        size: bytes from its beginning to its end.
        passed: lines that it ends, empty ones included.
        is_skipping: whether it ends within a line that is too long.
    """

    lines: Sequence[Line]
    size: int
    passed: int
    is_skipping: bool = False


def chunk_of(
    window: bytes, *, line: int, is_first: bool, is_last: bool, is_skipping: bool, most_lines: int
) -> Chunk | None:
    """Return the chunk that a window begins with; None where the window must begin with it.

    Args:
        line: how many lines came before.
        is_first: whether the file begins here.
        is_last: whether the file ends with the window.
        is_skipping: whether it begins within a line that is too long.
        most_lines: most lines that are not empty.
    """
    if is_skipping:
        return _rest_of_line(window, is_last=is_last)
    lines: list[Line] = []
    at = passed = 0
    while at < len(window) and len(lines) < most_lines:
        behind = _behind_line(window, at, is_last=is_last)
        # One that ends behind the window ends behind the chunk if the window does.
        if at and (behind or len(window)) > CHUNK_BYTES:
            return Chunk(lines, at, passed)
        if behind is None:
            break
        text = _text_of(window[at:behind], is_first=is_first and not at)
        passed += 1
        at = behind
        if text is None or text.strip():
            lines.append(Line(line + passed, text))
    # Whatever comes behind the window ends behind the chunk if the window's end does.
    is_whole = at == len(window) and (is_last or at >= CHUNK_BYTES)
    if is_whole or len(lines) >= most_lines:
        return Chunk(lines, at, passed)
    if not at and len(window) >= WINDOW_BYTES:
        return Chunk([Line(line + 1, None)], len(window), 1, is_skipping=True)
    return None


def _text_of(line: bytes, *, is_first: bool) -> bytes | None:
    """Return a line without its end; None where it is too long."""
    text = line.rstrip(b"\r\n")
    if is_first:
        text = text.removeprefix(_BOM)
    return text if len(text) <= MAX_LLM_IMPORT_LINE_BYTES else None


def _behind_line(window: bytes, at: int, *, is_last: bool) -> int | None:
    """Return where the line ends that begins there; None where that is behind the window."""
    end = window.find(b"\n", at)
    if end >= 0:
        return end + 1
    return len(window) if is_last else None


def _rest_of_line(window: bytes, *, is_last: bool) -> Chunk:
    end = window.find(b"\n")
    if end >= 0:
        return Chunk([], end + 1, 0)
    return Chunk([], len(window), 0, is_skipping=not is_last)
