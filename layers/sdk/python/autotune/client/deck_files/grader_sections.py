"""Reads what a deck file says of one grader, and of judges."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from autotune.client.deck_files.drafts import Draft
from autotune.client.deck_files.faults import FaultError, Path
from autotune.client.deck_files.levels import levels_in_list, levels_in_table
from autotune.client.deck_files.sections import Fence, Section
from autotune.client.deck_files.toml_blocks import Place, TomlBlock

_OF_RUBRIC = frozenset({"criteria", "notApplicableWhen", "levels"})
_TEXTS = {"criteria": "criteria", "not applicable when": "notApplicableWhen"}
_SECTIONS = "## Criteria, ## Levels, ## Not applicable when and ## Examples"


def read_grader(
    section: Section, within: Sequence[Section], name: str | None, draft: Draft
) -> None:
    """Read a grader into a draft.

    Args:
        section: what its heading holds: a fence of TOML, or nothing.
        within: its sections of the second level.
        name: as the heading has it, if it does.
    """
    path: Path = ("graders", len(draft.graders))
    draft.graders.append({"rubric": {}})
    draft.place(path, section.line)
    if name is not None:
        draft.give((*path, "name"), name, section.line)
    with draft.keeping_faults():
        _read_settings(section, path, draft)
    for part in within:
        with draft.keeping_faults():
            _read_part(part, path, draft)


def read_judge(value: Any, path: Path, place: Place) -> Any:
    """Return a judge of a block of TOML, its params an object where they are JSON.

    Raises:
        FaultError: they are none.
    """
    if not isinstance(value, Mapping) or not isinstance(value.get("params"), str):
        return value
    try:
        params = json.loads(value["params"])
    except (ValueError, RecursionError) as error:
        at = (*path, "params")
        raise FaultError(place(("params",)), f"expected a table, or JSON: {error}", at) from error
    return {**value, "params": params}


def _read_settings(section: Section, path: Path, draft: Draft) -> None:
    if not section.stripped:
        return
    block = _block_in(section, f"a fence of TOML below {section.heading}, or {_SECTIONS}", path)
    for name, value in block.values.items():
        rubric = (*path, "rubric", name) if name in _OF_RUBRIC else (*path, name)
        place = block.at(name)
        with draft.keeping_faults():
            if name == "judge":
                draft.give(rubric, read_judge(value, rubric, place), place)
            elif name == "levels":
                draft.give(rubric, *levels_in_table(value, rubric, place))
            elif name in ("examples", "rubric"):
                expected = f"expected a section: there are {_SECTIONS}"
                raise FaultError(place(()), expected, rubric)
            else:
                draft.give(rubric, value, place)


def _read_part(section: Section, path: Path, draft: Draft) -> None:
    title = section.title.casefold()
    if title in _TEXTS:
        draft.give((*path, "rubric", _TEXTS[title]), section.text(), section.line)
    elif title == "levels":
        at = (*path, "rubric", "levels")
        if _toml_fence(section) is not None:
            block = _block_in(section, "", at)
            draft.give(at, *levels_in_table(block.values, at, block.at()))
        else:
            draft.give(at, *levels_in_list(section, at))
    elif title == "examples":
        block = _block_in(section, "a fence of TOML with [[examples]]", path)
        for name in block.values:
            if name != "examples":
                line = block.line_of((name,))
                raise FaultError(line, "expected [[examples]] alone", (*path, name))
        examples = block.values.get("examples", [])
        draft.give((*path, "rubric", "examples"), examples, block.at("examples"))
    else:
        raise FaultError(section.line, f"unknown section; a grader has {_SECTIONS}", path)


def _block_in(section: Section, expected: str, path: Path) -> TomlBlock:
    fence = _toml_fence(section)
    if fence is None:
        line = next((part.line for part in section.stripped), section.line)
        raise FaultError(line, f"expected {expected}", path)
    try:
        return TomlBlock(fence.text, fence.line)
    except FaultError as fault:
        raise FaultError(fault.line, fault.expected, path) from fault


def _toml_fence(section: Section) -> Fence | None:
    """Return the fence of TOML that is all there is in a section."""
    body = section.stripped
    fence = body[0] if len(body) == 1 else None
    return fence if isinstance(fence, Fence) and fence.info == "toml" else None
