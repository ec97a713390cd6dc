"""Reads the prompts that the platform sends: texts of others stand between tags with a code.

A tag is ``<criteria-0123456789abcdef>``, on a line of its own, and ends with
``</criteria-0123456789abcdef>``. The first code of a prompt is the prompt's own; what has another
one is part of a text. Tags may stand in each other.
"""

import re
from dataclasses import dataclass

from tests.judges.prompts import LEVELS, JudgePrompt, RubricText, SampleText
from tests.providers.answers import Ask

_FIRST_TAG = re.compile(r"^<([a-z_-]+)-([0-9a-f]{8,64})>$", re.MULTILINE)
_EXAMPLE_LEVEL = re.compile(r"^level ([+-]?\d)\s*$", re.MULTILINE)
_NEUTRAL_COLON = "[:]"


@dataclass(frozen=True)
class Tagged:
    """One tag of a prompt and the text in it."""

    name: str
    text: str


class Tags:
    """The tags of a prompt, those in others apart.

    Args:
        text: Where the tags stand.
        code: The prompt's; None to take that of the first tag.
    """

    def __init__(self, text: str, code: str | None = None) -> None:
        if code is None:
            found = _FIRST_TAG.search(text)
            code = found[2] if found else ""
        self._code = code
        self.outer = list(self._read(text)) if code else []

    def inside(self, one: Tagged) -> "Tags":
        """The tags that stand in another."""
        return Tags(one.text, self._code)

    def text(self, name: str) -> str | None:
        """The text of the first tag of a name; None if there is none."""
        return next((one.text for one in self.outer if one.name == name), None)

    def all(self, name: str) -> list[Tagged]:
        """The tags of a name, in their order."""
        return [one for one in self.outer if one.name == name]

    def _read(self, text: str) -> list[Tagged]:
        opening = re.compile(rf"^<([a-z_-]+)-{self._code}>\n", re.MULTILINE)
        found, start = [], 0
        while match := opening.search(text, start):
            closing = f"\n</{match[1]}-{self._code}>"
            # An empty text leaves its line end to the opening tag.
            end = text.find(closing, match.end() - 1)
            if end < 0:
                break
            found.append(Tagged(match[1], text[match.end() : max(end, match.end())]))
            start = end + len(closing)
        return found


def judge_prompt(ask: Ask) -> JudgePrompt | None:
    """What a judge is asked; None if it is another prompt."""
    tags = Tags("\n".join(ask.texts))
    criteria, levels = tags.text("criteria"), tags.text("levels")
    response, conversation = tags.text("response"), tags.all("conversation")
    if criteria is None or levels is None or response is None or not conversation:
        return None
    parted = level_texts(levels)
    if parted is None:
        return None
    turns = tags.inside(conversation[0]).outer
    return JudgePrompt(
        rubric=RubricText(
            criteria=plain(criteria),
            levels=tuple(plain(level) for level in parted),
            not_applicable_when=plain(tags.text("not-applicable") or ""),
            examples=tuple(_example(tags.inside(one), one.text) for one in tags.all("example")),
        ),
        sample=SampleText("\n".join(plain(turn.text) for turn in turns), plain(response)),
        deck_prompt=plain(tags.text("instructions") or ""),
        raw_response=response,
    )


def level_texts(text: str) -> list[str] | None:
    """The seven texts of ``-3: …`` to ``3: …``, which may have several lines; None if not so."""
    starts = []
    position = 0
    for level in LEVELS:
        match = re.compile(rf"^{level}: ", re.MULTILINE).search(text, position)
        if match is None:
            return None
        starts.append(match)
        position = match.end()
    ends = [one.start() - 1 for one in starts[1:]] + [len(text)]
    return [text[one.end() : end] for one, end in zip(starts, ends, strict=True)]


def plain(text: str) -> str:
    """A text as it was before its ``VERDICT:`` and ``EXPLANATION:`` were neutralised."""
    return text.replace(_NEUTRAL_COLON, ":")


def _example(tags: Tags, text: str) -> tuple[str, str, int]:
    level = _EXAMPLE_LEVEL.findall(text)
    return (
        plain(tags.text("input") or ""),
        plain(tags.text("output") or ""),
        int(level[-1]) if level else 0,
    )
