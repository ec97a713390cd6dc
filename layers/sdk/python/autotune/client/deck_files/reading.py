"""Reads a deck file, and says what of it is wrong by line and field."""

from collections.abc import Sequence

from pydantic import ValidationError

from autotune.client.deck_files.drafts import Draft
from autotune.client.deck_files.faults import DeckFileError, DeckFileFault, FaultError
from autotune.client.deck_files.grader_sections import read_grader, read_judge
from autotune.client.deck_files.models import DeckFile
from autotune.client.deck_files.sections import (
    FRONT_MATTER,
    Fence,
    Section,
    front_matter,
    sections,
)
from autotune.client.deck_files.toml_blocks import TomlBlock

MOST_DECK_FILE_BYTES = 5_000_000
"""Largest deck file: a deck with all graders that it may have takes less than half of it."""

GRAMMAR = 1
"""The version of the grammar, which ``deck`` of the front matter names."""

_BYTE_ORDER_MARK = "\ufeff"
_HEADINGS = "# System prompt and # Grader: NAME"


def parse_deck_file(text: str, *, source: str = "deck file") -> DeckFile:
    """Return the deck that a file says.

    Args:
        text: what the file holds.
        source: its name, for errors.

    Raises:
        DeckFileError: it breaks the grammar, or a field its limit; ``faults`` have the lines.
    """
    lines = lines_of(text, source=source)
    draft = Draft()
    try:
        block, length = _front_matter(lines)
        rest = sections(lines[length:], length + 1)
    except FaultError as error:
        raise DeckFileError(source, [DeckFileFault(error.line, "", str(error))]) from error
    _read_front_matter(block, draft)
    _read_sections(rest, draft)
    invalid: ValidationError | None = None
    try:
        deck = DeckFile.model_validate(draft.values)
    except ValidationError as error:
        invalid = error
    if faults := draft.faults(invalid):
        raise DeckFileError(source, faults) from invalid
    return deck


def lines_of(text: str, *, source: str) -> list[str]:
    """Return the lines of a file, whichever line breaks it has.

    Raises:
        DeckFileError: it is larger than a deck file may be.
    """
    size = len(text.encode(errors="replace"))
    if size > MOST_DECK_FILE_BYTES:
        expected = f"expected at most {MOST_DECK_FILE_BYTES} bytes, not {size}"
        raise DeckFileError(source, [DeckFileFault(1, "", expected)])
    return text.removeprefix(_BYTE_ORDER_MARK).replace("\r\n", "\n").split("\n")


def says_its_grammar(text: str) -> bool:
    """Return whether a file is one of this grammar: its front matter has ``deck``."""
    try:
        found = front_matter(lines_of(text, source=""))
        return found is not None and "deck" in TomlBlock(found[0], 1).values
    except (DeckFileError, FaultError):
        # What is wrong is said where it is read.
        return True


def _front_matter(lines: Sequence[str]) -> tuple[TomlBlock, int]:
    found = front_matter(lines)
    if found is None:
        raise FaultError(1, f"expected a line {FRONT_MATTER}, which begins the front matter")
    text, length = found
    return TomlBlock(text, 1), length


def _read_front_matter(block: TomlBlock, draft: Draft) -> None:
    draft.place((), block.at())
    for name, value in block.values.items():
        with draft.keeping_faults():
            if name == "deck":
                continue
            if name == "graders":
                expected = "expected a section # Grader: NAME for each grader"
                raise FaultError(block.line_of((name,)), expected, (name,))
            place = block.at(name)
            judge = read_judge(value, (name,), place) if name == "judge" else value
            draft.give((name,), judge, place)
    grammar = block.values.get("deck")
    with draft.keeping_faults():
        if grammar != GRAMMAR or isinstance(grammar, bool):
            raise FaultError(block.line_of(("deck",)), f"expected deck = {GRAMMAR}", ("deck",))


def _read_sections(found: Sequence[Section], draft: Draft) -> None:
    before, *rest = found
    with draft.keeping_faults():
        if before.stripped:
            expected = f"expected {_HEADINGS}; notes belong in description of the front matter"
            raise FaultError(before.stripped[0].line, expected)
    while rest:
        section = rest.pop(0)
        within: list[Section] = []
        while rest and rest[0].depth == 2:
            within.append(rest.pop(0))
        with draft.keeping_faults():
            _read_section(section, within, draft)


def _read_section(section: Section, within: Sequence[Section], draft: Draft) -> None:
    word, colon, name = section.title.partition(":")
    if section.depth == 1 and section.title.casefold() == "system prompt":
        _read_prompt(section, within, draft)
    elif section.depth == 1 and word.strip().casefold() == "grader":
        read_grader(section, within, name.strip(" \t") if colon else None, draft)
    else:
        expected = f"expected {_HEADINGS}, not {section.heading[:80]}"
        raise FaultError(section.line, expected)


def _read_prompt(section: Section, within: Sequence[Section], draft: Draft) -> None:
    body = section.stripped
    path = ("systemPrompt",)
    fence = body[0] if len(body) == 1 and not within else None
    if not isinstance(fence, Fence):
        line = next(
            (part.line for part in (*body, *within) if not isinstance(part, Fence)), section.line
        )
        expected = (
            "expected the system prompt in one fence, which begins and ends with a line of "
            "backticks, more than it has itself"
        )
        raise FaultError(line, expected, path)
    draft.give(path, fence.text, section.line)
