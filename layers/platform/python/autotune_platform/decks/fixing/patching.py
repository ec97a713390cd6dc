"""Patches of rubrics: which texts they change, and which patches are refused."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from pydantic import ValidationError

from autotune.protocol.deck_edits import EditChange
from autotune.protocol.levels import LEVELS, LevelsRubric
from autotune.protocol.limits import MAX_EDIT_GROWTH
from autotune_platform.runtime.errors import InvalidRequestError


def patched(base: LevelsRubric, patch: Sequence[EditChange]) -> LevelsRubric:
    """Return a rubric with a patch, all of which applies to the texts as they were before it.

    Raises:
        InvalidRequestError: a passage is not in its text exactly once, two changes overlap, nothing
            changes, or the rubric would be too long.
    """
    texts = _texts(base)
    cuts: dict[tuple[str, int | None], list[tuple[int, int, str]]] = {}
    examples: list[Any] = list(base.examples)
    for place, change in enumerate(patch):
        if change.example is not None:
            examples.append(change.example)
            continue
        key = (change.field, change.level)
        cuts.setdefault(key, []).append(_cut(texts[key], change, place))
    changed = {key: _with(texts[key], cut, key) for key, cut in cuts.items()}
    after = {**texts, **changed}
    fields = {
        "criteria": after["criteria", None],
        "levels": [after["level", level] for level in LEVELS],
        "not_applicable_when": after["notApplicableWhen", None] or None,
        "examples": [one.model_dump(by_alias=False) for one in examples],
    }
    try:
        rubric = LevelsRubric.model_validate(fields)
    except ValidationError as error:
        said = "; ".join(str(one["msg"]) for one in error.errors(include_url=False))
        raise InvalidRequestError.of_field(
            "patch", "one that leaves a rubric", detail=said
        ) from None
    if rubric == base:
        raise InvalidRequestError.of_field("patch", "one that changes something")
    _require_short(base, rubric)
    return rubric


def added_texts(base: LevelsRubric, rubric: LevelsRubric) -> list[tuple[str, str]]:
    """Return texts that differ, but for examples: as they were, and as they are."""
    before, after = _texts(base), _texts(rubric)
    return [(before[key], text) for key, text in after.items() if text != before[key]]


def _texts(rubric: LevelsRubric) -> dict[tuple[str, int | None], str]:
    return {
        ("criteria", None): rubric.criteria,
        **{("level", level): text for level, text in zip(LEVELS, rubric.levels, strict=True)},
        ("notApplicableWhen", None): rubric.not_applicable_when or "",
    }


def _cut(text: str, change: EditChange, place: int) -> tuple[int, int, str]:
    """Return where a change begins and ends in its text, and what stands there afterwards."""
    assert change.find is not None, "a change of a text has a passage"
    assert change.replace is not None, "and what replaces it"
    if not change.find:
        if text:
            raise InvalidRequestError.of_field(
                f"patch[{place}].find", "a passage of the text", detail="the text is not empty"
            )
        return 0, 0, change.replace
    start = text.find(change.find)
    if start < 0 or text.find(change.find, start + 1) >= 0:
        why = "it is not there" if start < 0 else "it is there more than once"
        raise InvalidRequestError.of_field(
            f"patch[{place}].find", "a passage that the text has exactly once", detail=why
        )
    return start, start + len(change.find), change.replace


def _with(text: str, cuts: list[tuple[int, int, str]], key: tuple[str, int | None]) -> str:
    ordered = sorted(cuts)
    for (_, end, _), (start, _, _) in pairwise(ordered):
        if start < end or not text:
            raise InvalidRequestError.of_field(
                "patch", "changes that do not overlap", detail=f"two change the same of {key[0]}"
            )
    parts, position = [], 0
    for start, end, replace in ordered:
        parts += [text[position:start], replace]
        position = end
    return "".join([*parts, text[position:]])


def _require_short(base: LevelsRubric, rubric: LevelsRubric) -> None:
    before, after = (sum(map(len, _texts(one).values())) for one in (base, rubric))
    if after > MAX_EDIT_GROWTH * before:
        raise InvalidRequestError.of_field(
            "patch",
            f"one that leaves a rubric of at most {MAX_EDIT_GROWTH * before} characters",
            detail=f"it would have {after}, more than twice as many as it has",
        )
