"""``python -m tests.chaos.student``: the small model of the apprentice, as vLLM serves it.

It tells intents apart like the paid model, but for one case in 25. A ``Student`` starts and kills
it, and has it answer nonsense, or nothing.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import threading
import zlib
from collections import Counter
from typing import Any

import httpx

from local.deployment import REPOSITORY_ROOT
from local.endpoint import LOOPBACK, free_port
from tests.support.model_servers import Vllm, replying, serving

INTENTS = ("card_lost", "card_stolen", "balance", "transfer")
MODEL = "intents-1"
WRONG_ONE_IN = 25

_CASE = re.compile(r"case-\d+")

FAULTS = {
    "is another model": replying(
        body=b'{"model": "intents-0", "choices": [{"message": {"content": "{}"}}]}'
    ),
    "answers nonsense": replying(body=b'{"choices": [{"message": {"content": "NaN"'),
    "answers 503": replying(status=503, body=b"{}"),
    "drips": replying(drip_seconds=0.2),
    "hangs": replying(wait_seconds=20),
}
STRIKES = frozenset(["died", *FAULTS])
"""All that may become of it."""


def case_in(prompt: str) -> str:
    """Return which case a prompt is about."""
    found = _CASE.search(prompt)
    assert found is not None, prompt
    return found[0]


def intent_of(case: str) -> str:
    """Return the right intent of a case."""
    return INTENTS[zlib.crc32(case.encode()) % len(INTENTS)]


def permuted_intent_of(case: str) -> str:
    """Return an intent that has nothing to do with the right one."""
    return INTENTS[zlib.crc32(case[::-1].encode()) % len(INTENTS)]


class Student(Vllm):
    """Answers as the case in a question has it."""

    def answer(self, path: str, asked: dict[str, Any]) -> tuple[int, Any]:
        case = case_in(asked["messages"][-1]["content"])
        intent = intent_of(case)
        if zlib.crc32(case[::-1].encode()) % WRONG_ONE_IN == 0:
            intent = next(one for one in INTENTS if one != intent)
        self.says = f'{{"intent": "{intent}"}}'
        return super().answer(path, asked)

    def about(self, path: str) -> tuple[int, Any]:
        if path.startswith("/fault/"):
            self.fault = FAULTS.get(path.removeprefix("/fault/").replace("_", " "))
            return 200, {}
        return super().about(path)


class MortalStudent:
    """The server as a process, which dies and comes back at the same address."""

    def __init__(self) -> None:
        self._port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self.struck: Counter[str] = Counter()

    @property
    def url(self) -> str:
        """Where it is, dead or alive."""
        return f"http://{LOOPBACK}:{self._port}"

    def live(self) -> None:
        """Start it where it does not run."""
        with self._lock:
            if self._process is None:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "tests.chaos.student", "--port", str(self._port)],
                    cwd=REPOSITORY_ROOT,
                    stdout=subprocess.PIPE,
                )
                assert self._process.stdout is not None
                self._process.stdout.readline()

    def die(self) -> None:
        """Kill it, in the midst of whatever it answers."""
        with self._lock:
            if self._process is not None:
                self._process.kill()
                self._process.communicate()
                self._process = None
                self.struck["died"] += 1

    def fall_ill(self, fault: str) -> None:
        """Have it answer so from now on."""
        self._tell(fault)
        self.struck[fault] += 1

    def recover(self) -> None:
        """Have it live, and answer as it should."""
        self.live()
        self._tell("nothing")

    def _tell(self, fault: str) -> None:
        path = f"/fault/{fault.replace(' ', '_')}"
        httpx.get(self.url + path, trust_env=False, timeout=10).raise_for_status()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    port = parser.parse_args().port
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    parent = os.getppid()
    with serving(Student(model=MODEL), port=port):
        print("serving", flush=True)
        # Where whoever started it was killed, nobody stops it.
        while not ended.wait(1) and os.getppid() == parent:
            pass


if __name__ == "__main__":
    main()
