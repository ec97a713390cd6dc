"""Asks at a door, one after the other or some at once, bounded in number and time."""

import statistics
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import httpx

from benchmarks.gateways.gateway import Door, Gateway
from benchmarks.texts import prompts

ANSWER_SECONDS = 60
PASS_SECONDS = 120
MOST_PASSES = 4
# What a gateway does behind its answers is its work, too.
SETTLES_WITHIN_SECONDS = 2
PROMPT_BYTES = 1_024


@dataclass(frozen=True)
class Asked:
    """What came of a pass.

    Attributes:
        statuses: of all answers; 0 stands for none.
        seconds: each request's.
    """

    statuses: Counter[int]
    seconds: Sequence[float]


@dataclass(frozen=True)
class Work:
    """CPU time of a gateway's processes, and how long programs waited."""

    gateway: str
    at_once: int
    requests: int
    cpu_milliseconds: float
    p50: float
    p99: float

    def as_json(self) -> dict[str, Any]:
        """Return it for the report; milliseconds."""
        return {
            "gateway": self.gateway,
            "at once": self.at_once,
            "requests": self.requests,
            "CPU ms a request": round(self.cpu_milliseconds, 2),
            "p50 ms": round(self.p50, 1),
            "p99 ms": round(self.p99, 1),
        }


def ask(door: Door, count: int, *, at_once: int) -> Asked:
    """Ask so often; no request begins after two minutes, and none waits for over one."""
    statuses: Counter[int] = Counter()
    seconds: list[float] = []
    lock = threading.Lock()
    until = time.monotonic() + PASS_SECONDS
    waiting = iter(list(prompts(count, text_bytes=PROMPT_BYTES)))

    def drawn() -> Iterator[str]:
        while time.monotonic() < until:
            with lock:
                prompt = next(waiting, None)
            if prompt is None:
                return
            yield prompt

    def one_after_the_other(_: int) -> None:
        with httpx.Client(timeout=ANSWER_SECONDS, trust_env=False) as client:
            for prompt in drawn():
                status, took = _ask(client, door, prompt)
                with lock:
                    statuses[status] += 1
                    seconds.append(took)

    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(one_after_the_other, range(at_once)))
    return Asked(statuses, seconds)


def work(gateway: Gateway, door: Door, count: int, *, at_once: int) -> Work:
    """Measure what answering takes, by processes that live from the first request to the last.

    Raises:
        RuntimeError: not all was answered, or processes begin and end in each of four passes.
    """
    for _ in range(MOST_PASSES):
        before = gateway.cpu_seconds()
        asked = ask(door, count, at_once=at_once)
        time.sleep(SETTLES_WITHIN_SECONDS)
        after = gateway.cpu_seconds()
        if asked.statuses != Counter({200: count}):
            raise RuntimeError(f"{gateway.name} answered {dict(asked.statuses)} to {count}")
        if after.keys() == before.keys():
            used = sum(after[pid] - before[pid] for pid in before)
            ordered = sorted(asked.seconds)
            return Work(
                gateway.name,
                at_once,
                count,
                cpu_milliseconds=used / count * 1_000,
                p50=statistics.median(ordered) * 1_000,
                p99=ordered[len(ordered) * 99 // 100] * 1_000,
            )
    raise RuntimeError(f"processes of {gateway.name} come and go: {sorted(after)}")


def _ask(client: httpx.Client, door: Door, prompt: str) -> tuple[int, float]:
    started = time.perf_counter()
    try:
        status = door.post(client, prompt).status_code
    except httpx.TransportError:
        status = 0
    return status, time.perf_counter() - started
