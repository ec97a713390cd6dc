"""Lint of rubrics: what makes a judge's levels hard to tell apart, seen without asking anyone."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Final, Literal, Protocol

from autotune.protocol.levels import LEVELS
from autotune.protocol.types import ResponseModel

RubricRemarkCode = Literal["empty", "repeated", "vague"]
"""``empty`` has no words. ``repeated`` says what a lower level says. ``vague`` has but words that
fit any rubric, such as "good"."""

_WORD = re.compile(r"\w+")
# What is left of a text without these is what it says of this rubric and no other.
_SAYS_NOTHING: Final = frozenset(
    _WORD.findall(
        """
        a about above acceptable adequate all almost also an and answer answers as at
        average awful bad barely be below best better but completion decent enough entirely
        excellent exceptional exceeds expectations extremely failed fails fair fairly fine
        for generally good grade great high higher highest in insufficient is it kind level
        low lower lowest mediocre medium meets middling moderate mostly neither neutral nor
        not of ok okay on or outstanding output overall partially partly passable perfect
        perfectly poor poorly pretty quality quite rather really reply response satisfactory
        score slightly so solid some somewhat sort strong subpar sufficient superb terrible
        than that the this to top totally unacceptable unsatisfactory usually very weak well
        what with work worse worst
        """
    )
)


class LintedRubric(Protocol):
    """A rubric, as lint reads it."""

    @property
    def criteria(self) -> str:
        """What is judged."""

    @property
    def levels(self) -> Sequence[str]:
        """What each level means, from -3 to +3."""

    @property
    def not_applicable_when(self) -> str | None:
        """When there is nothing to judge."""


class RubricRemark(ResponseModel):
    """Something about a rubric that a person should look at; a rubric may have it all the same.

    Attributes:
        field: where it is, such as ``levels[0]``.
        level: which level that is; None of what is none.
    """

    field: str
    level: int | None = None
    code: RubricRemarkCode
    message: str


def lint_rubric(rubric: LintedRubric) -> list[RubricRemark]:
    """Return what is empty, repeated or vague in a rubric, in the order in which it stands there.

    Nothing is asked, and nothing that it finds keeps a rubric from being stored; levels that are
    empty or repeated keep a grader from being activated.
    """
    remarks = [*_of_text("criteria", rubric.criteria, None)]
    before: dict[str, int] = {}
    for place, (level, text) in enumerate(zip(LEVELS, rubric.levels, strict=True)):
        field = f"levels[{place}]"
        same = before.setdefault(folded(text), level)
        if folded(text) and same != level:
            message = f"says the same as level {same:+d}" if same else "says the same as level 0"
            remarks.append(_remark(field, level, "repeated", message))
        else:
            remarks += _of_text(field, text, level)
    when = rubric.not_applicable_when
    if when is not None and not folded(when):
        remarks += _of_text("notApplicableWhen", when, None)
    return remarks


def folded(text: str) -> str:
    """Return the words of a text, by which two texts are the same; empty where it has none."""
    return " ".join(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def _of_text(field: str, text: str, level: int | None) -> list[RubricRemark]:
    words = folded(text).split()
    if not words:
        return [_remark(field, level, "empty", "has no words")]
    if all(word in _SAYS_NOTHING or word.isdecimal() for word in words):
        message = "has but words that fit any rubric: say what is seen in such a response"
        return [_remark(field, level, "vague", message)]
    return []


def _remark(field: str, level: int | None, code: RubricRemarkCode, message: str) -> RubricRemark:
    return RubricRemark(field=field, level=level, code=code, message=message)
