"""The fake of the providers, for benchmarks: a process of its own."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from local.deployment import REPOSITORY_ROOT


@contextmanager
def provider(said: str) -> Iterator[str]:
    """Serve the fake, which answers every question alike; yield its address."""
    command = [sys.executable, "-m", "tests.providers", "--validate-seconds=1", "--run-seconds=20"]
    with subprocess.Popen(  # noqa: S603 - our own
        command, cwd=REPOSITORY_ROOT, stdout=subprocess.PIPE, text=True
    ) as fake:
        try:
            assert fake.stdout is not None
            url = fake.stdout.readline().split()[-1]
            say(url, said)
            yield url
        finally:
            fake.terminate()


def say(url: str, said: str) -> None:
    """Have it answer every question so from now on."""
    rules = {"rules": [{"contains": "", "text": said}]}
    httpx.post(f"{url}/_fake/answers", json=rules).raise_for_status()


def run_for(url: str, seconds: float) -> None:
    """Have jobs that are made from now on take so long."""
    httpx.post(f"{url}/_fake/timing", json={"run_seconds": seconds}).raise_for_status()


def bill(url: str) -> Any:
    """Return what the fake has counted: executions and nano-dollars."""
    return httpx.get(f"{url}/_fake/bill").raise_for_status().json()
