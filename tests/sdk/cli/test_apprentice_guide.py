"""What the guide to ``apprentice.yaml`` says is so."""

import re
from pathlib import Path

import pytest

from autotune.client.apprentice_files.faults import ApprenticeFileError
from autotune.client.apprentice_files.reading import SECTIONS, parse_apprentice_file
from autotune_platform.apprentice.local.listing import REGISTERED

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs" / "guides" / "apprentice.md").read_text("utf-8")
EXAMPLE = (ROOT / "examples" / "apprentice.yaml").read_text("utf-8")


def blocks(language):
    return re.findall(rf"^ *```{language}\n(.*?)^ *```$", TEXT, re.M | re.S)


def test_the_commands_and_the_program_run(api, shell, capsys):
    commands = blocks("sh")[0].replace("autotune apprentice delete", "exit 0; #")
    done = shell.run(commands, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert "support_intent: new, version 1" in done.stdout
    (program,) = blocks("python")
    exec(compile(program, "apprentice.md", "exec"), {})
    assert "coaching_trigger=0.8" in capsys.readouterr().out


def test_the_faults_are_those_of_the_example():
    text = EXAMPLE.replace("coaching_trigger: 0.80", "coaching_trigger: high")
    with pytest.raises(ApprenticeFileError) as caught:
        parse_apprentice_file(text.replace('daily: "5"', "daily: five"))
    assert caught.value.lines == [line.strip() for line in blocks("text")[0].splitlines()]


def test_a_small_model_can_be_registered_for_the_example():
    task = parse_apprentice_file(EXAMPLE).tasks["support_intent"].configuration
    assert task.local.backend in REGISTERED
    assert task.training is None


def test_every_section_is_explained():
    named = set(re.findall(r"^\| `([a-z]+)[.A-Za-z]*` \|", TEXT, re.M))
    assert {*SECTIONS, "tasks"} <= named
