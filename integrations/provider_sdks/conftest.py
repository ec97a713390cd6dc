"""The fake of the providers as a process of its own, and its control API."""

import json
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

ROOT = Path(__file__).resolve().parents[2]
START = "1795000000"
QUESTIONS = [f"Is claim {number} right?" for number in range(5)]


@dataclass(frozen=True)
class Fake:
    """Where the fake is, and how a test steers it."""

    url: str

    def call(self, method, path, document=None):
        body = None if document is None else json.dumps(document).encode()
        with urlopen(Request(f"{self.url}/_fake{path}", body, method=method), timeout=10) as answer:
            return json.load(answer)

    def advance(self, seconds=120):
        self.call("POST", "/clock/advance", {"seconds": seconds})

    def arm(self, name, **fields):
        self.call("POST", "/traps", {"name": name, **fields})

    def paid(self, provider):
        """Tokens of what was executed for a provider, and what it cost."""
        executions = self.call("GET", "/executions")["executions"]
        mine = [one for one in executions if one["provider"] == provider]
        bill = self.call("GET", "/bill")["by_provider"].get(provider, 0)
        assert bill == sum(one["cost_nano_usd"] for one in mine)
        return {one["token"] for one in mine}


@contextmanager
def serving(*options):
    """The fake in a process of its own; afterwards it must have had no fault."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.providers", "--seed", "3", *options],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        made = Fake(process.stdout.readline().split()[1])
        yield made
        assert made.call("GET", "/health")["bugs"] == []
    finally:
        process.terminate()
        process.communicate(timeout=10)


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
