"""``autotune grader serve`` and ``check``, run as a user runs them."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from autotune.cli.grader import app
from autotune.grader import grader
from autotune.grader.loading import GraderTargetError, load_grader
from autotune.grader.shared_secrets import SECRET_VARIABLE
from tests.support.interruptible import start_interruptible

SOURCE = """
from autotune.grader import grader
from words import WORDS

@grader(name="first", version="7")
def first(completion):
    return 1.0 if completion.response in WORDS else 0.5
"""


@pytest.fixture(autouse=True)
def own_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in ("words", "my_grader", "two", "none"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.delenv(SECRET_VARIABLE, raising=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "my_grader.py").write_text(SOURCE)
    (tmp_path / "words.py").write_text("WORDS = {'yes'}\n")
    second = SOURCE.replace('"first"', '"second"').replace("def first", "def second")
    (tmp_path / "two.py").write_text(SOURCE + second)
    (tmp_path / "none.py").write_text("first = 1\n")
    (tmp_path / "c.jsonl").write_text('{"prompt": "p"}\n')
    return tmp_path


@pytest.mark.parametrize("name", ["", ":first"])
def test_a_grader_is_loaded_from_a_file_with_its_neighbours(folder: Path, name: str) -> None:
    loaded = load_grader(f"{folder / 'my_grader.py'}{name}")
    assert loaded.name == "first"
    assert loaded.grade(prompt="?", response="yes").value == 1.0


def test_a_grader_is_loaded_from_a_module(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert load_grader("my_grader:first").name == "first"
    assert load_grader("my_grader").name == "first"


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("missing.py", "there is no file missing.py"),
        ("missing_module:name", "there is no module missing_module"),
        ("none.py", "it has none made by @grader"),
        ("none.py:first", "no grader named first"),
        ("two.py", "it has first, second"),
        ("two.py:third", "it has first, second"),
        ("c.jsonl", "neither a .py file nor the name of a module"),
        ("./c.jsonl", "neither a .py file nor the name of a module"),
        ("missing.jsonl", "there is no module"),
        ("/etc", "neither a .py file nor the name of a module"),
    ],
)
def test_a_target_without_one_grader_is_explained(
    folder: Path, monkeypatch: pytest.MonkeyPatch, target: str, message: str
) -> None:
    monkeypatch.chdir(folder)
    with pytest.raises(GraderTargetError, match=message):
        load_grader(target)


def test_an_import_that_the_grader_itself_lacks_is_not_hidden(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "words.py").unlink()
    monkeypatch.chdir(folder)
    with pytest.raises(ModuleNotFoundError, match="words"):
        load_grader("my_grader:first")


@contextmanager
def served(target: Path, *arguments: str, **environment: str) -> Iterator[tuple[Any, str]]:
    code = "from autotune.cli.grader import app; app()"
    command = [sys.executable, "-c", code, "serve", str(target), "--port", "0", *arguments]
    process = start_interruptible(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **environment},
    )
    try:
        assert process.stdout is not None
        yield process, process.stdout.readline()
    finally:
        process.kill()
        process.communicate()


def test_serve_says_where_it_is_and_check_passes(folder: Path, secret: str) -> None:
    with served(folder / "my_grader.py", **{SECRET_VARIABLE: secret}) as (process, line):
        assert line.startswith("Serving first 7 at http://127.0.0.1:")
        url = line.split()[-1]
        result = CliRunner().invoke(app, ["check", url, "--secret", secret])
        assert result.exit_code == 0, result.output
        lines = result.output.splitlines()
        assert lines[-1] == "22 passed, 0 failed, 0 skipped"
        assert len(lines) == 23
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0


def test_check_reports_failures_as_json_with_exit_code_1(folder: Path, secret: str) -> None:
    with served(folder / "my_grader.py", "--secret", secret) as (_, line):
        url = line.split()[-1]
        result = CliRunner().invoke(app, ["check", url, "--json"], env={SECRET_VARIABLE: "wrong"})
    assert result.exit_code == 1
    (document,) = result.stdout.splitlines()
    report = json.loads(document)
    assert report["url"] == url
    assert report["failed"] == 2
    assert {"name", "outcome", "expected", "seen"} == set(report["checks"][0])


def test_check_scores_the_completion_that_it_is_given(
    tmp_path: Path, secret: str, serving: Any
) -> None:
    seen: list[str] = []

    @grader(name="spy", max_batch_size=2, secrets=secret)
    def spy(completion: Any) -> float:
        seen.append(completion.response)
        return 1.0

    sample = tmp_path / "sample.json"
    sample.write_text(json.dumps({"prompt": "p", "response": "mine", "metadata": {}}))
    with serving(spy.asgi) as url:
        arguments = ["check", url, "--secret", secret, "--completion", str(sample)]
        assert CliRunner().invoke(app, arguments).exit_code == 0
    assert set(seen) == {"mine"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", "http://127.0.0.1:1"], "give --secret"),
        (["check", "http://127.0.0.1:1", "--secret", "x"], "nothing answers"),
        (["check", "http://x", "--secret", "x", "--completion", "no.json"], "cannot read"),
        (["check", "http://x", "--secret", "x", "--completion", "none.py"], "must hold one JSON"),
        (["check", "http://x", "--secret", "x", "--completion", "c.jsonl"], "response: Field requ"),
        (["serve", "no.py", "--secret", "x"], "there is no file"),
        (["serve", "./c.jsonl", "--secret", "x"], "neither a .py file"),
        (["serve", "my_grader.py"], SECRET_VARIABLE),
        (["serve", "my_grader.py", "--secret", "x", "--host", "192.0.2.1"], "cannot listen on"),
    ],
)
def test_wrong_usage_ends_with_2_and_one_sentence(
    folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(folder)
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
