"""The small model of the apprentice, as vLLM serves it: a process of its own."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from local.deployment import REPOSITORY_ROOT
from local.endpoint import LOOPBACK, free_port

MODEL = "intents-1"
CASE = "case-00000"
"""What all are asked about, beside words that differ: it answers all alike."""


@contextmanager
def student() -> Iterator[str]:
    """Serve it; yield its address."""
    port = free_port()
    command = [sys.executable, "-m", "tests.chaos.student", "--port", str(port)]
    with subprocess.Popen(  # noqa: S603 - our own
        command, cwd=REPOSITORY_ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            yield f"http://{LOOPBACK}:{port}"
        finally:
            process.terminate()


def said_by(url: str) -> str:
    """Return what it answers."""
    asked = {"model": MODEL, "messages": [{"role": "user", "content": CASE}]}
    answer = httpx.post(f"{url}/v1/chat/completions", json=asked, trust_env=False)
    said: str = answer.raise_for_status().json()["choices"][0]["message"]["content"]
    return said
