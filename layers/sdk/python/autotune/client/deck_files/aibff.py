"""Graders as aibff has them, where their meaning is clear: Markdown with levels from -3 to +3.

A file has a title, criteria and a text for each level, and may embed others. What is embedded is
not read. A deck names the files of its graders in a front matter, and is the system prompt itself.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from pydantic import ValidationError

from autotune.client.deck_files.aibff_levels import NO_LEVEL, LevelTexts, says_zero_for_no_answer
from autotune.client.deck_files.faults import DeckFileError, DeckFileFault, FaultError
from autotune.client.deck_files.levels import LEVEL_NAMES
from autotune.client.deck_files.models import DeckFileGrader
from autotune.client.deck_files.reading import lines_of
from autotune.client.deck_files.sections import front_matter
from autotune.client.deck_files.toml_blocks import TomlBlock
from autotune.protocol.problems import field_problems

_TITLE = re.compile(r"#[ \t]+(.*)")
_HEADING = re.compile(r"#{1,6}[ \t]+(.*)")
_FENCE = re.compile(r"(`{3,}|~{3,})")
_EMBEDS = re.compile(r">?[ \t]*(?:!\[[^\]]*\]\([^)]*\)[ \t]*)+")
_EMBEDDED = re.compile(r"!\[[^\]]*\]\(([^)]*)\)")
_FOOTNOTE = re.compile(r"\[\^[^\]]+\]:[ \t]*!?\[[^\]]*\]\(([^)]*)\)[ \t]*")
_REFERENCE = re.compile(r"[ \t]?\[\^[^\]]+\]")
_OUTPUT_FORMAT = re.compile(r"output format|response format", re.I)

_Numbered = tuple[int, str]

ReadFile = Callable[[str], str]
"""Returns the text of a file that a deck names, by the path that it names."""


@dataclass(frozen=True)
class AibffDeck:
    """What a file of aibff becomes.

    Attributes:
        name: its title.
        system_prompt: of a deck; None where the file is a grader.
        graders: with their rubrics, without judges.
        notes: what was left out.
    """

    name: str
    system_prompt: str | None
    graders: Sequence[DeckFileGrader]
    notes: Sequence[str]


@dataclass
class _File:
    """A file without its front matter, title and embedded files."""

    title: str
    lines: list[_Numbered]
    grader_files: list[str]
    embedded: list[str] = field(default_factory=list)


def parse_aibff_file(text: str, *, source: str, read: ReadFile) -> AibffDeck:
    """Return the graders of a file, and the system prompt where it is a deck.

    Args:
        source: its name, for errors.
        read: is asked for the files of a deck's graders.

    Raises:
        DeckFileError: the meaning is not clear; above all where 0 is to say that a grader does not
            apply, which is no level here.
    """
    try:
        file = _opened(text, source)
        if file.grader_files:
            return _deck(file, read)
        grader, notes = _grader(file, source)
    except FaultError as fault:
        raise DeckFileError(source, [DeckFileFault(fault.line, "", str(fault))]) from fault
    return AibffDeck(file.title, None, [grader], notes)


def _deck(file: _File, read: ReadFile) -> AibffDeck:
    graders, notes = [], _of_embedded(file)
    for name in file.grader_files:
        try:
            inner = _opened(read(name), name)
            grader, found = _grader(inner, name)
        except FaultError as fault:
            raise DeckFileError(name, [DeckFileFault(fault.line, "", str(fault))]) from fault
        graders.append(grader)
        notes += found
    prompt = "\n".join(line for _, line in file.lines).strip("\n")
    return AibffDeck(file.title, prompt, graders, notes)


def _opened(text: str, source: str) -> _File:
    lines = lines_of(text, source=source)
    found = front_matter(lines)
    start = 0 if found is None else found[1]
    graders = [] if found is None else _grader_files(TomlBlock(found[0], 1))
    numbered = [(start + number, line) for number, line in enumerate(lines[start:], 1)]
    first, heading = next((one for one in numbered if one[1].strip()), (start + 1, ""))
    title = _TITLE.fullmatch(heading)
    if title is None:
        expected = (
            "expected a deck file, which begins with +++ and has deck = 1, or a grader of aibff, "
            "which begins with # NAME"
        )
        raise FaultError(first, expected)
    file = _File(_without_references(title[1]), [], graders)
    for number, line in numbered:
        if number <= first:
            continue
        if (footnote := _FOOTNOTE.fullmatch(line)) is not None:
            file.embedded.append(footnote[1])
        elif _EMBEDS.fullmatch(line.rstrip()) is not None:
            file.embedded += _EMBEDDED.findall(line)
        else:
            file.lines.append((number, line))
    return file


def _grader_files(block: TomlBlock) -> list[str]:
    graders = block.values.get("graders", [])
    if not (isinstance(graders, list) and all(isinstance(one, str) for one in graders)):
        expected = "expected graders = [...], the paths of files"
        raise FaultError(block.line_of(("graders",)), expected)
    return graders


def _grader(file: _File, source: str) -> tuple[DeckFileGrader, list[str]]:
    levels = LevelTexts()
    criteria, left_out = _without_levels(file, levels)
    for number, paragraph in _paragraphs(criteria):
        if says_zero_for_no_answer(paragraph):
            raise FaultError(number, NO_LEVEL)
    texts = levels.all()
    fields = {
        "name": file.title,
        "rubric": {
            "criteria": _without_references(_criteria(criteria)),
            "levels": [_without_references(texts[name]) for name in LEVEL_NAMES],
        },
    }
    notes = _of_embedded(file)
    for number, title in left_out:
        notes.append(f"{source}, line {number}: {title} is left out; answers have a form of ours")
    try:
        return DeckFileGrader.model_validate(fields), notes
    except ValidationError as error:
        faults = [DeckFileFault(1, one.field, one.expected) for one in field_problems(error)]
        raise DeckFileError(source, faults) from error


def _of_embedded(file: _File) -> list[str]:
    warning = "; if it asks for a 0 where a grader does not apply, say so in notApplicableWhen"
    return [
        f"{one} is not read{warning if one.endswith('.md') else ''}"
        for one in dict.fromkeys(file.embedded)
    ]


def _without_levels(file: _File, levels: LevelTexts) -> tuple[list[_Numbered], list[_Numbered]]:
    """Return the lines that are criteria, and the headings of sections that are left out."""
    kept: list[_Numbered] = []
    left_out: list[_Numbered] = []
    is_left_out = False
    for number, line, is_code in _marking_code(file.lines):
        heading = None if is_code else _HEADING.fullmatch(line)
        if heading is not None:
            levels.end()
            is_left_out = _OUTPUT_FORMAT.search(heading[1]) is not None
            left_out += [(number, heading[1])] if is_left_out else []
        taken = not is_code and levels.take(number, line)
        if not (taken or is_left_out):
            kept.append((number, line))
    return kept, left_out


def _marking_code(lines: Sequence[_Numbered]) -> Iterator[tuple[int, str, bool]]:
    """Yield each line with whether it is within a fence, or begins or ends one."""
    fence: str | None = None
    for number, line in lines:
        mark = _FENCE.match(line)
        yield number, line, fence is not None or mark is not None
        if fence is None:
            fence = None if mark is None else mark[1]
        elif line.startswith(fence):
            fence = None


def _criteria(lines: Sequence[_Numbered]) -> str:
    """Return the text without headings that nothing follows, and without repeated blank lines."""
    kept: list[str] = []
    for _, line in lines:
        depth = len(line) - len(line.lstrip("#")) if _HEADING.fullmatch(line) else 0
        if depth:
            _drop_empty_heading(kept, depth)
        if line.strip() or (kept and kept[-1]):
            kept.append(line.rstrip())
    _drop_empty_heading(kept, 1)
    return "\n".join(kept).strip("\n")


def _drop_empty_heading(kept: list[str], depth: int) -> None:
    """Take away headings at the end that have nothing below them, before one of a depth."""
    while kept and not kept[-1]:
        kept.pop()
    while kept and _HEADING.fullmatch(kept[-1]):
        if len(kept[-1]) - len(kept[-1].lstrip("#")) < depth:
            break
        kept.pop()
        while kept and not kept[-1]:
            kept.pop()
    if kept:
        kept.append("")


def _paragraphs(lines: Sequence[_Numbered]) -> Iterator[tuple[int, str]]:
    """Yield paragraphs, and items of lists, each with its line."""
    first, words = 0, ""
    for number, line in lines:
        is_item = re.match(r"[ \t]*(?:[-*+]|\d+\.)[ \t]", line) is not None
        if not line.strip() or is_item:
            if words:
                yield first, words
            words = ""
        if line.strip():
            first = first if words else number
            words = f"{words} {line.strip()}".strip()
    if words:
        yield first, words


def _without_references(text: str) -> str:
    return _REFERENCE.sub("", text).strip()
