"""Words that the glossary retires stand in no decision, guide, state machine or docstring."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
GLOSSARY = ROOT / "docs" / "glossary.md"
PAGES = ("README.md", "CONTRIBUTING.md", "docs/*.md", "docs/adr/*.md", "docs/guides/**/*.md")
SOURCES = (
    *("benchmarks", "examples", "functions", "grader_template", "infra", "integrations"),
    *("layers/platform", "layers/sdk", "local", "tools"),
)


def retired() -> list[str]:
    """Return the words and phrases in the left column of the glossary's last table."""
    table = GLOSSARY.read_text("utf-8").partition("## Retired words")[2]
    cells = re.findall(r"^\| (.+?) \| .+ \|$", table, re.MULTILINE)[1:]
    return [word.strip() for cell in cells for word in cell.split(",")]


def uses(text: str) -> list[str]:
    """Return the retired words that a text uses; where its links lead does not count."""
    prose = re.sub(r"\]\([^)]*\)", "]", text)
    either = "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in retired())
    return re.findall(rf"\b(?:{either})\b", prose, re.IGNORECASE)


def comments(value: Any) -> Iterator[str]:
    """Yield the comments of a state machine."""
    if isinstance(value, dict):
        yield from (text for key, text in value.items() if key == "Comment")
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from comments(one)


def docstrings(source: str) -> Iterator[str]:
    """Yield docstrings of modules, classes and functions, and those below attributes."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield text


def texts() -> Iterator[tuple[str, str]]:
    """Yield what is written for readers, with the file that it is from."""
    for pattern in PAGES:
        for path in sorted(ROOT.glob(pattern)):
            page = path.read_text("utf-8")
            yield str(path.relative_to(ROOT)), page.partition("## Retired words")[0]
    for path in sorted((ROOT / "statemachines").glob("*.asl.json")):
        for comment in comments(json.loads(path.read_text("utf-8"))):
            yield path.name, comment
    for folder in SOURCES:
        for path in sorted((ROOT / folder).rglob("*.py")):
            for docstring in docstrings(path.read_text("utf-8")):
                yield str(path.relative_to(ROOT)), docstring


def test_retired_words_are_not_used() -> None:
    found = [(name, word) for name, text in texts() for word in uses(text)]
    assert found == [], "docs/glossary.md, Retired words, has the words to use instead"


def test_every_kind_of_text_is_looked_at() -> None:
    names = {name for name, _ in texts()}
    assert {"docs/adr/README.md", "docs/guides/operators.md", "docs/glossary.md"} <= names
    assert {"score_completions.asl.json", "functions/scoring/grade_chunk.py"} <= names


@pytest.mark.parametrize(
    "text",
    ["Nobody was told.", "It is driven\nagain.", "**Tallies** differ.", "it leaves word with it"],
)
def test_a_retired_word_is_found(text: str) -> None:
    assert len(uses(text)) == 1


@pytest.mark.parametrize(
    "text", ["It takes its place.", "See [0003](0003-standing.md), in a word."]
)
def test_ordinary_words_and_paths_are_not(text: str) -> None:
    assert uses(text) == []


def test_comments_of_nested_states_are_read() -> None:
    machine = {"Comment": "one", "States": {"A": {"Retry": [{"Comment": "two"}]}}}
    assert list(comments(machine)) == ["one", "two"]
