"""Every command and option that a guide or a page of the console names is there."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from autotune.cli.application import app

GUIDES = Path(__file__).parents[3] / "docs" / "guides"
CONSOLE = Path(__file__).parents[3] / "console"
ROOT: Any = get_command(app)
_STARTS = re.compile(r"(?:^|[\s`(])(?:\.venv/bin/)?autotune (?=[a-z])(?!import )")
# Where a command ends: a pipe, a redirection, another command, a bracket around it, a comment.
_ENDS = re.compile(r"[|;&<>`]|\)(?=\s|$)| #|$", re.M)


def commands_in(text: str) -> Iterator[str]:
    """Yield each command of ``autotune`` in blocks of code and within lines of text."""
    blocks = re.findall(r"^```(?:sh|text)?\n(.*?)^```$", text, re.M | re.S)
    prose = re.sub(r"^```\w*\n.*?^```$", "", text, flags=re.M | re.S)
    inline = [one.replace("\n", " ") for one in re.findall(r"`([^`]+)`", prose)]
    for code in [*(one.replace("\\\n", " ") for one in blocks), *inline]:
        for start in _STARTS.finditer(code):
            rest = code[start.end() :]
            # Quoted text may hold what ends a command elsewhere.
            hidden = re.sub(r"'[^'\n]*'|\"[^\"\n]*\"", lambda one: "x" * len(one[0]), rest)
            end = _ENDS.search(hidden)
            assert end is not None
            yield rest[: end.start()]


def problem_of(line: str) -> str | None:
    """Return what of a command is not there; None where all is."""
    words = shlex.split(line)
    command = ROOT
    while words and hasattr(command, "commands"):
        word = words.pop(0)
        if word.startswith("-"):
            if word not in options_of(ROOT):
                return f"{word} before a command"
            continue
        if not re.fullmatch(r"[a-z-]+", word):
            return None  # such as an ellipsis: it names no command
        if word not in command.commands:
            return f"no command {word}"
        command = command.commands[word]
    known = options_of(command)
    unknown = [
        word
        for word in (one.partition("=")[0] for one in words)
        if re.fullmatch(r"--[a-z][a-z-]*", word) and word not in known
    ]
    return f"{command.name} has no {', '.join(unknown)}" if unknown else None


def options_of(command: Any) -> set[str]:
    named = {one for each in command.params for one in (*each.opts, *each.secondary_opts)}
    return named | {"--help"}


@pytest.mark.parametrize("guide", sorted(GUIDES.rglob("*.md")), ids=lambda one: one.stem)
def test_every_command_and_option_of_a_guide_is_there(guide):
    found = {line: problem_of(line) for line in commands_in(guide.read_text("utf-8"))}
    assert {line: problem for line, problem in found.items() if problem} == {}


def test_every_command_that_the_console_has_people_copy_is_whole():
    parts = [one for one in CONSOLE.rglob("*.js") if "vendor" not in one.parts]
    texts = "\n".join(one.read_text("utf-8") for one in parts)
    shown = re.findall(r"\"autotune ([a-z][^\"]*)\"|`autotune ([a-z][^`]*)`", texts)
    commands = {re.sub(r"\$\{[^}]*\}", "VALUE", "".join(one)) for one in shown}
    assert len(commands) > 30
    found = {words: problem_of(words) or lacks(words) for words in sorted(commands)}
    assert {words: problem for words, problem in found.items() if problem} == {}
    assert lacks("tasks create --grader GRADER_ID") == "create lacks --name"


def lacks(line: str) -> str | None:
    """Return which options a command has to have and has not."""
    words = shlex.split(line)
    command = ROOT
    for word in words:
        if not hasattr(command, "commands"):
            break
        command = command.commands[word]
    wanted = [one.opts for one in command.params if one.required and one.opts[0].startswith("-")]
    missing = [opts[0] for opts in wanted if not {*opts, "--help"} & set(words)]
    return f"{command.name} lacks {', '.join(missing)}" if missing else None


def test_commands_are_found_and_what_is_not_there_is_noticed():
    text = """
Say `autotune llm wiat x` or `autotune llm wait --patience 3`, never `autotune … --odd`.
```sh
ID=$(autotune llm connect --name a --provder openai \\
  --batches never --json | jq -r --raw .id)
autotune scores --task "$ID" --state 'a | b' --nothing > out  # --comment
pip install --upgrade autotune
```
"""
    found = [problem_of(line) for line in commands_in(text)]
    assert found == [
        "connect has no --provder",
        "scores has no --nothing",
        "no command wiat",
        "wait has no --patience",
    ]


def test_guides_name_many_commands():
    texts = "\n".join(guide.read_text("utf-8") for guide in GUIDES.glob("*.md"))
    assert len(set(commands_in(texts))) > 100
