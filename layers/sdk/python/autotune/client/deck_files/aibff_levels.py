"""The levels of a grader of aibff, as its files write them, and the rule that is refused."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from autotune.client.deck_files.faults import FaultError
from autotune.client.deck_files.levels import LEVEL_NAMES

_MINUS = "\N{MINUS SIGN}"
# `- **+3**: text`, `**+3 (Good)**: text`, `- Score 3: text`, `**+3 (Good)**` and text below.
_LEVEL = re.compile(
    rf"(?P<item>[-*][ \t]+)?(?P<bold>\*\*)?(?P<word>score[ \t]+)?"
    rf"(?P<number>[+\-{_MINUS}]?[0-3])(?:[ \t]*\((?P<label>[^)]*)\))?(?P<inner>:)?(?:\*\*)?"
    rf"(?P<outer>:)?(?:[ \t]+(?P<text>.*))?",
    re.I,
)
_ZERO_AS_SCORE = re.compile(
    r"\b(?:return|score|give|assign|grade|use|output|answer|respond)\w*\b[^.;]{0,60}?"
    r"(?<![\d.+-])0(?![\d.]\d|\d)|(?<![\d.+-])0\b[^.;]{0,20}\bas the (?:score|grade)",
    re.I,
)
_NO_ANSWER = re.compile(
    r"\bnot? (?:seem to |really )?appl(?:y|icable)|n't (?:seem to |really )?apply|\binapplicable\b"
    r"|\bn/a\b|\bunable to\b|\b(?:cannot|can't|could not|impossible to) (?:be )?"
    r"(?:tell|judge|grade|determine|assess|evaluate|score)|\binvalid\b|\birrelevant to th",
    re.I,
)


@dataclass(frozen=True)
class _Form:
    """How far the text of a level goes: up to the next level or heading, or before."""

    has_ended: Callable[[str], bool]


_ITEM = _Form(lambda line: not line.startswith((" ", "\t")))
_PARAGRAPH = _Form(lambda line: not line.strip())
_BELOW = _Form(lambda _: False)

NO_LEVEL = (
    "0 stands for what does not apply or cannot be judged. Here 0 is a level like the others, and "
    "would count as a middling answer: take that rule out, say what is judged 0, and write when "
    "the grader does not apply as `## Not applicable when` of a deck file; such answers abstain"
)


def says_zero_for_no_answer(paragraph: str) -> bool:
    """Return whether a text asks for a 0 where there is nothing to judge."""
    return bool(_ZERO_AS_SCORE.search(paragraph) and _NO_ANSWER.search(paragraph))


class LevelTexts:
    """Takes levels out of the lines of a grader, one line after the other."""

    def __init__(self) -> None:
        self._texts: dict[str, list[str]] = {}
        self._lines: dict[str, int] = {}
        self._open: str | None = None
        self._form = _BELOW

    def take(self, number: int, line: str) -> bool:
        """Return whether a line is a level's, and keep it then.

        Raises:
            FaultError: that level was there before.
        """
        found = _LEVEL.fullmatch(line.rstrip())
        if found is not None and _is_level(found):
            self._begin(number, found)
            return True
        if self._open is None:
            return False
        if self._form.has_ended(line):
            self.end()
            return False
        self._texts[self._open].append(line.strip() if self._form is _ITEM else line.rstrip())
        return True

    def end(self) -> None:
        """End the level that further lines would belong to."""
        self._open = None

    def all(self) -> dict[str, str]:
        """Return the text of each level.

        Raises:
            FaultError: some are missing, or 0 is not one.
        """
        zero = "\n".join(self._texts.get("0", ()))
        if _NO_ANSWER.search(zero):
            raise FaultError(self._lines["0"], NO_LEVEL)
        missing = [name for name in LEVEL_NAMES if name not in self._texts]
        if missing:
            line = min(self._lines.values(), default=1)
            expected = (
                "expected seven levels, such as `- **+3**: Answers the question.`; there is no "
                f"{', '.join(missing)}"
            )
            raise FaultError(line, expected)
        return {name: "\n".join(lines).strip("\n") for name, lines in self._texts.items()}

    def _begin(self, number: int, found: re.Match[str]) -> None:
        plain = found["number"].replace(_MINUS, "-").removeprefix("+")
        name = next(one for one in LEVEL_NAMES if one.removeprefix("+") == plain.replace("-0", "0"))
        if name in self._texts:
            again = f"level {name} is on line {self._lines[name]} already"
            raise FaultError(number, again)
        said_here = bool(found["text"])
        said = ": ".join(filter(None, (found["label"], found["text"])))
        self._texts[name], self._lines[name] = [said] if said else [], number
        self._open = name
        self._form = _ITEM if found["item"] else _PARAGRAPH if said_here else _BELOW


def _is_level(found: re.Match[str]) -> bool:
    """Return whether a line that begins with a number is a level, and no count or sum."""
    has_colon = bool(found["inner"] or found["outer"])
    if has_colon:
        return bool(found["item"] or found["bold"] or found["word"])
    return bool(found["bold"] and not found["text"])
