"""CPU time of a run of the apprentice: the worker's own handler in this process, MiniStack below.

What is measured is all of the handler, from Lambda's event to its answer. What asking the model
takes stands by itself; all else is what routing, storing and booking take. The emulator and the
provider are on other cores, where there are two (``own_core``): on the same one they would fill the
caches at each of the five waits for an answer. Calls of Python functions are counted as well, which
no other program beside it changes.
"""

import cProfile
import pstats
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from botocore.client import BaseClient

from autotune import AutotuneClient
from autotune.protocol.ids import new_id
from autotune_platform.apprentice.local.exchanging import ModelServers
from autotune_platform.apprentice.runs.models import Run
from autotune_platform.ledger.exchanges import Exchanges
from benchmarks.gateways.apprentice_gateway import TASK, RunDoor
from benchmarks.gateways.deployed import Deployed
from benchmarks.gateways.own_core import own_core
from benchmarks.gateways.student import CASE
from benchmarks.requests import as_deployed

RUNS = 100
COUNTED = 10
"""Runs whose calls of Python functions are counted; none of them is timed."""
_WARM = 5
_SECONDS_LEFT = 290


@dataclass
class RunCpu:
    """What runs took, each.

    Attributes:
        who: which model answered.
        seconds: of CPU, all together.
        asking: those of them that asking the model took.
        calls: of AWS.
        has_own_core: whether nothing else of the stand ran on its core, which was kept awake.
        python_calls: of functions, for a run, built-in ones included.
    """

    who: str
    has_own_core: bool
    seconds: list[float] = field(default_factory=list)
    asking: list[float] = field(default_factory=list)
    calls: list[int] = field(default_factory=list)
    python_calls: int = 0

    @property
    def overhead_milliseconds(self) -> float:
        """Return the median of what a run takes beside the model's call."""
        return statistics.median(self._overheads) * 1_000

    @property
    def least_milliseconds(self) -> float:
        """Return the least that a run took beside it, which other programs change little."""
        return min(self._overheads) * 1_000

    @property
    def _overheads(self) -> list[float]:
        both = zip(self.seconds, self.asking, strict=True)
        return [every - asking for every, asking in both]

    def as_json(self) -> dict[str, Any]:
        """Return it for the report."""
        return {
            "answered by": self.who,
            "runs": len(self.seconds),
            "AWS calls": round(statistics.median(self.calls)),
            "CPU ms": round(statistics.median(self.seconds) * 1_000, 2),
            "of them the model's call": round(statistics.median(self.asking) * 1_000, 2),
            "beside it": round(self.overhead_milliseconds, 2),
            "least": round(self.least_milliseconds, 2),
            "calls of functions": self.python_calls,
            "core": "its own, awake" if self.has_own_core else "shared",
        }


def measure(deployed: Deployed, door: RunDoor, *, who: str) -> RunCpu:
    """Have the worker answer runs of a task, after a few that warm it up.

    Raises:
        RuntimeError: another model answers.
    """
    with deployed.client(door.api_key) as client:
        new_run = _runs_of(client, door.organization_id)
    with as_deployed(deployed.stand), own_core() as has_own_core:
        from functions.apprentice.work_runs import lambda_handler  # noqa: PLC0415 - as deployed

        context = SimpleNamespace(get_remaining_time_in_millis=lambda: _SECONDS_LEFT * 1_000)

        def work(run: dict[str, Any]) -> None:
            answer = lambda_handler({"run": run}, context)
            if answer["run"].get("answers") != who:
                raise RuntimeError(f"not {who}: {answer['run']}")

        for _ in range(_WARM):
            work(new_run())
        found = RunCpu(who, has_own_core)
        with _counted() as counts:
            for _ in range(RUNS):
                run = new_run()
                counts.clear()
                started = time.process_time()
                work(run)
                found.seconds.append(time.process_time() - started)
                found.asking.append(counts.asking)
                found.calls.append(counts.calls)
        found.python_calls = _python_calls(work, [new_run() for _ in range(COUNTED)])
    return found


def _python_calls(work: Callable[[dict[str, Any]], None], runs: list[dict[str, Any]]) -> int:
    """Return how many calls of functions a run takes."""
    with cProfile.Profile() as profile:
        for run in runs:
            work(run)
    stats: Any = pstats.Stats(profile)
    calls: int = stats.total_calls
    return round(calls / len(runs))


def _runs_of(client: AutotuneClient, organization_id: str) -> Callable[[], dict[str, Any]]:
    """Return what makes new runs of the task, as the API has them made."""
    last = client.apprentice.run(TASK, input={"text": CASE}, wait=25)
    task = client.apprentice_tasks.get(TASK)

    def new_run() -> dict[str, Any]:
        now = datetime.now(UTC)
        return Run(
            id=new_id("apr"),
            organization_id=organization_id,
            task_id=task.id,
            task_name=TASK,
            configuration_version=last.configuration_version,
            definition_hash=task.definition_hash,
            created_by="key_bench",
            input={"text": CASE},
            fingerprint="0" * 64,
            created_at=now,
            deadline_at=now + timedelta(minutes=15),
        ).model_dump(mode="json", exclude_none=True)

    return new_run


@dataclass
class _Counts:
    asking: float = 0
    calls: int = 0

    def clear(self) -> None:
        self.asking, self.calls = 0.0, 0


@contextmanager
def _counted() -> Iterator[_Counts]:
    """Count calls of AWS, and the CPU of whichever thread asks a model."""
    counts = _Counts()

    def timed(asked: Callable[..., Any]) -> Callable[..., Any]:
        def asking(*arguments: Any, **options: Any) -> Any:
            started = time.thread_time()
            try:
                return asked(*arguments, **options)
            finally:
                counts.asking += time.thread_time() - started

        return asking

    def called(self: Any, operation: str, parameters: Any) -> Any:
        counts.calls += 1
        return before(self, operation, parameters)

    operation_of = "_make_api_call"
    before = getattr(BaseClient, operation_of)
    with (
        patch.object(BaseClient, operation_of, called),
        patch.object(Exchanges, "exchange", timed(Exchanges.exchange)),
        patch.object(ModelServers, "ask", timed(ModelServers.ask)),
    ):
        yield counts
