"""Fakes of model providers as processes of their own, and their control API."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

REPOSITORY_ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Fake:
    """Where a fake is, and how a test steers it."""

    url: str

    def call(self, method: str, path: str, document: Any = None) -> Any:
        """Calls its control API; returns the answer."""
        body = None if document is None else json.dumps(document).encode()
        request = Request(f"{self.url}/_fake{path}", body, method=method)  # noqa: S310 - loopback
        with urlopen(request, timeout=10) as answer:  # noqa: S310 - loopback
            return json.load(answer)

    def advance(self, seconds: int = 120) -> None:
        """Moves its clock."""
        self.call("POST", "/clock/advance", {"seconds": seconds})

    def arm(self, name: str, **fields: Any) -> None:
        """Sets a trap."""
        self.call("POST", "/traps", {"name": name, **fields})

    def paid(self, provider: str) -> set[str]:
        """Tokens of what was executed for a provider.

        Raises:
            AssertionError: If its bill is not what they cost.
        """
        executions = self.call("GET", "/executions")["executions"]
        mine = [one for one in executions if one["provider"] == provider]
        bill = self.call("GET", "/bill")["by_provider"].get(provider, 0)
        if bill != sum(one["cost_nano_usd"] for one in mine):
            raise AssertionError(f"the bill of {provider} is {bill}")
        return {one["token"] for one in mine}


@contextmanager
def serving(*options: str, module: str = "tests.providers") -> Iterator[Fake]:
    """Runs a fake in a process of its own.

    Raises:
        AssertionError: If it does not start, or had a fault of its own.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", module, *options, "--seed", "3"],
        cwd=REPOSITORY_ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        if process.stdout is None or not (line := process.stdout.readline()):
            raise AssertionError(f"{module} did not start")
        made = Fake(line.split()[1])
        yield made
        if bugs := made.call("GET", "/health")["bugs"]:
            raise AssertionError(bugs)
    finally:
        process.terminate()
        process.communicate(timeout=10)
