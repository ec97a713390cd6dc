"""Sends inputs to tasks of the apprentice until each has been taken, under one key each."""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count

from autotune import AutotuneClient
from autotune.client.errors import APIError, ConnectionFailedError
from tests.chaos.texts import TEXT

AT_ONCE = 5
WAITS = (0, 0, 3, 20)
"""Seconds, drawn; with 0 the answer is 202."""

ENDED = frozenset({"budget_exhausted", "remote_unavailable", "local_unavailable"})
"""Errors of calls whose run has ended without an answer."""

_REPEATED = 0.1


@dataclass
class Load:
    """What was sent.

    Attributes:
        client: of the organisation.
        taken: cases whose run was acknowledged, with the name of their task.
        run_ids: of runs that were acknowledged with their id, by case.
        repeated: how often a request was sent again though it had an answer.
        moved: what keys had two runs.
        failed_calls: what calls ended with that were sent again.
    """

    client: AutotuneClient
    seed: int
    taken: dict[str, str] = field(default_factory=dict)
    run_ids: dict[str, str] = field(default_factory=dict)
    wanted: int = 0
    repeated: int = 0
    moved: list[str] = field(default_factory=list)
    failed_calls: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _numbers: "Iterator[int]" = field(default_factory=count)

    def send(self, task: str, runs: int, *, is_over: Callable[[], bool]) -> None:
        """Send so many inputs, some at once; no more begin once it is over."""
        numbers = [next(self._numbers) for _ in range(runs)]
        self.wanted += runs

        def send(number: int) -> None:
            if not is_over():
                self._send(task, number, is_over)

        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(send, numbers))

    def known(self) -> list[str]:
        """Return the ids of runs that were acknowledged, in that order."""
        with self._lock:
            return list(self.run_ids.values())

    def _send(self, task: str, number: int, is_over: Callable[[], bool]) -> None:
        draw = random.Random(self.seed * 100_000 + number)
        case, wait = f"case-{number:05d}", draw.choice(WAITS)
        if not self._insisting(task, case, wait, is_over):
            return
        with self._lock:
            self.taken[case] = task
        if draw.random() < _REPEATED and self._insisting(task, case, 0, is_over):
            with self._lock:
                self.repeated += 1

    def _insisting(self, task: str, case: str, wait: int, is_over: Callable[[], bool]) -> bool:
        """Send an input until its run is acknowledged, as any program does that has a key."""
        while not is_over():
            try:
                run = self.client.apprentice.run(
                    task, input={"text": f"{case} {TEXT}"}, wait=wait, idempotency_key=case
                )
            except (APIError, ConnectionFailedError) as error:
                with self._lock:
                    self.failed_calls[_kind(error)] += 1
                if isinstance(error, APIError) and error.code in ENDED:
                    return True
                time.sleep(0.5)
            else:
                with self._lock:
                    before = self.run_ids.setdefault(case, run.id)
                    if before != run.id:
                        self.moved.append(f"{case} is {before} and {run.id}")
                return True
        return False


def _kind(error: APIError | ConnectionFailedError) -> str:
    return f"{error.status} {error.code}" if isinstance(error, APIError) else "no connection"
