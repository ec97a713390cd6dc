import json
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from typer import testing
from typer.testing import CliRunner

from autotune.cli.application import app
from tests.support.interruptible import start_interruptible

# All commands are put together for each that is run.
testing._get_command = cache(testing._get_command)


@dataclass(frozen=True)
class Ran:
    exit_code: int
    stdout: str
    stderr: str

    @property
    def json_lines(self):
        return [json.loads(line) for line in self.stdout.splitlines()]

    @property
    def last_line(self):
        return self.stdout.splitlines()[-1]


@pytest.fixture
def api(api, monkeypatch, tmp_path):
    """The platform, which the command line finds in its environment."""
    monkeypatch.setenv("AUTOTUNE_BASE_URL", api.base_url)
    monkeypatch.setenv("AUTOTUNE_API_KEY", api.api_key)
    monkeypatch.chdir(tmp_path)
    return api


@pytest.fixture
def task_id(api):
    return api.new_task()


@pytest.fixture
def one_by_one_id(api):
    """A task whose grader is asked about one completion at a time."""
    return api.new_task(grader_id=api.platform.new_grader(api.grader))


@pytest.fixture
def run(api):
    """Run the command line in this process."""

    def run_command(*arguments, stdin=None) -> Ran:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Ran(result.exit_code, result.stdout, result.stderr)

    return run_command


@pytest.fixture
def start():
    """Start the command line as a process of its own."""

    started = []

    def start_command(*arguments, stdin=None) -> subprocess.Popen[str]:
        process = start_interruptible(
            [sys.executable, "-m", "autotune.cli", *map(str, arguments)],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(os.environ),
        )
        started.append(process)
        return process

    yield start_command
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture
def write_jsonl(tmp_path):
    def write(lines, name="completions.jsonl") -> Path:
        path = tmp_path / name
        text = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        path.write_text("".join(f"{line}\n" for line in text), encoding="utf-8")
        return path

    return write


@pytest.fixture
def completions():
    def make(count, **metadata):
        return [
            {
                "prompt": f"What is {n} + {n}?",
                "response": str(2 * n),
                "modelId": f"m{n % 2}",
                "metadata": {"n": n, **metadata},
            }
            for n in range(count)
        ]

    return make
