"""Writes a deck file: of one deck always the same text, which is read back as the same deck.

A text that Markdown can hold as it is stands there as it is, or within a fence. One that has
characters that an editor would not keep, such as a carriage return, stands in TOML, escaped.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from autotune.client.deck_files import toml_text
from autotune.client.deck_files.levels import LEVEL_NAMES
from autotune.client.deck_files.models import DeckFile, DeckFileGrader, DeckFileJudge
from autotune.client.deck_files.sections import FRONT_MATTER, fenced
from autotune.protocol.levels import LevelsRubric, RubricExample

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
# What begins a heading or a fence, or has spaces that an editor may take away.
_NOT_PLAIN = re.compile(r"^#{1,2}[ \t]|^```|^~~~|[ \t]$", re.M)


def format_deck_file(deck: DeckFile) -> str:
    """Return the text of a deck file, which ``parse_deck_file`` reads as the same deck.

    Example:
        >>> deck = DeckFile(name="Support", system_prompt="You answer {{product}} questions.")
        >>> parse_deck_file(format_deck_file(deck)) == deck
        True
    """
    return "\n".join([*_front_matter(deck), *_prompt(deck), *_graders(deck.graders), ""])


def _front_matter(deck: DeckFile) -> Iterator[str]:
    values: dict[str, Any] = {"deck": 1, "name": deck.name}
    if deck.description:
        values["description"] = deck.description
    values["holdoutShare"] = deck.holdout_share
    if not _fits_markdown(deck.system_prompt):
        values["systemPrompt"] = deck.system_prompt
    yield FRONT_MATTER
    yield from toml_text.table(values, multiline=_keeps_front_matter)
    yield from _judge(deck.judge)
    yield FRONT_MATTER


def _keeps_front_matter(text: str) -> bool:
    return "\n" in text and FRONT_MATTER not in text


def _prompt(deck: DeckFile) -> Iterator[str]:
    if _fits_markdown(deck.system_prompt):
        yield from ("", "# System prompt", "", *fenced(deck.system_prompt))


def _graders(graders: Sequence[DeckFileGrader]) -> Iterator[str]:
    for grader in graders:
        is_heading = _fits_markdown(grader.name) and "\n" not in grader.name
        yield from ("", f"# Grader: {grader.name}" if is_heading else "# Grader")
        yield from _grader(grader, {} if is_heading else {"name": grader.name})


def _grader(grader: DeckFileGrader, settings: Mapping[str, str]) -> Iterator[str]:
    rubric = grader.rubric
    texts = {"criteria": rubric.criteria}
    if rubric.not_applicable_when is not None:
        texts["notApplicableWhen"] = rubric.not_applicable_when
    escaped = {name: text for name, text in texts.items() if not _fits_markdown(text)}
    in_toml = [*toml_text.table({**settings, **escaped}), *_judge(grader.judge)]
    if in_toml:
        yield from ("", *fenced("\n".join(in_toml).lstrip("\n"), "toml"))
    if "criteria" not in escaped:
        yield from ("", "## Criteria", "", *_as_markdown(rubric.criteria))
    yield from ("", "## Levels", "", *_levels(rubric))
    if "notApplicableWhen" in texts.keys() - escaped.keys():
        said = _as_markdown(texts["notApplicableWhen"])
        yield from ("", "## Not applicable when", "", *said)
    if rubric.examples:
        examples = "\n".join(_examples(rubric.examples))
        yield from ("", "## Examples", "", *fenced(examples, "toml"))


def _judge(judge: DeckFileJudge | None) -> Iterator[str]:
    if judge is None:
        return
    values: dict[str, Any] = {}
    if judge.connection is not None:
        values["connection"] = judge.connection
    values["model"] = judge.model
    # Nulls within `extra` are the provider's, and TOML has none.
    params = {
        name: value
        for name, value in judge.params.model_dump(mode="json", by_alias=True).items()
        if value is not None
    }
    is_json = toml_text.has_null(params)
    values["params"] = json.dumps(params, ensure_ascii=False) if is_json else params
    yield from ("", "[judge]", *toml_text.table(values))


def _levels(rubric: LevelsRubric) -> Iterator[str]:
    by_name = dict(zip(LEVEL_NAMES, rubric.levels, strict=True))
    names = {name: by_name[name] for name in reversed(LEVEL_NAMES)}
    if not all(map(_fits_a_list, names.values())):
        yield from fenced("\n".join(toml_text.table(names)), "toml")
        return
    for name, text in names.items():
        first, *others = text.split("\n")
        yield f"- **{name}**: {first}".rstrip(" ")
        yield from (f"  {other}" if other else "" for other in others)


def _examples(examples: Sequence[RubricExample]) -> Iterator[str]:
    for number, example in enumerate(examples):
        values: Mapping[str, Any] = example.model_dump(mode="json", by_alias=True)
        said = {name: value for name, value in values.items() if value not in (None, "")}
        # Both texts have to be there, empty or not.
        both = {"input": example.input, "output": example.output}
        yield from ([""] if number else [])
        yield from ("[[examples]]", *toml_text.table(both | said))


def _fits_markdown(text: str) -> bool:
    return _CONTROLS.search(text) is None


def _as_markdown(text: str) -> list[str]:
    lines = text.split("\n")
    is_plain = bool(lines[0].strip(" \t") and lines[-1]) and _NOT_PLAIN.search(text) is None
    return lines if is_plain else fenced(text)


def _fits_a_list(text: str) -> bool:
    first, *others = text.split("\n")
    is_open = others and not (first and others[-1])
    return _fits_markdown(text) and not (
        is_open or text.startswith((" ", "\t")) or re.search(r"[ \t]$", text, re.M)
    )
