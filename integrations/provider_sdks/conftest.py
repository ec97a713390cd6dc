"""The fake of the providers as a process of its own."""

import os
import subprocess
from contextlib import contextmanager
from pathlib import Path
from urllib.request import Request, urlopen

import openai
import pytest

from integrations.fakes import serving

ROOT = Path(__file__).resolve().parents[2]
PATHS = ("layers/sdk/python", "layers/platform/python", ".")
START = "1795000000"
QUESTIONS = [f"Is claim {number} right?" for number in range(5)]


@pytest.fixture
def fake():
    """A fake whose clock a test moves."""
    with serving("--start", START) as made:
        yield made


@pytest.fixture
def running_fake():
    """A fake on real time, whose batches take three seconds."""
    with serving("--validate-seconds=1", "--run-seconds=2") as made:
        yield made


@pytest.fixture
def token_in():
    """The token of an answer's text."""

    def token_in(text):
        return text.partition("[")[2].partition("]")[0]

    return token_in


class Served:
    """Where an API is that serves OpenAI's words above simulated AWS, and a client of it."""

    def __init__(self, port, token):
        self.url = f"http://127.0.0.1:{port}"
        self.client = self.as_bearer_of(token)

    def as_bearer_of(self, token):
        return openai.OpenAI(base_url=f"{self.url}/v1", api_key=token, max_retries=2)

    def post(self, path):
        with urlopen(Request(f"{self.url}{path}", b"", method="POST"), timeout=60) as answer:
            return answer.read().decode()


@pytest.fixture
def served():
    """Handlers in a process of the project's environment, with a fake provider behind them."""
    with serving_here() as made:
        yield made


@pytest.fixture
def served_task():
    """The same, and a client with the token of a task."""
    with serving_here("task") as made:
        yield made


@contextmanager
def serving_here(*of):
    process = subprocess.Popen(
        [ROOT / ".venv" / "bin" / "python", "-m", "tests.support.served_compatible", *of],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(PATHS)},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield Served(*process.stdout.readline().split())
    finally:
        process.terminate()
        process.communicate(timeout=10)
