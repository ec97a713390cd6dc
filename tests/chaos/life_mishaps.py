"""What befalls trainings and hosts: killed functions, a throttled table, and time that passes."""

import random
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import psutil

from autotune_platform.apprentice.hosting.repository import hostings_of
from autotune_platform.apprentice.training.items import trainings_of
from tests.chaos.beside import Beside
from tests.chaos.faults import kill, workers_below
from tests.chaos.operator import Operator
from tests.chaos.patience import patience
from tests.chaos.tables import LONG_AGO, PAST, Tables
from tests.chaos.throttling import ThrottlingProxy

STEPS = (
    "FreezeExamples",
    "TrainLinear",
    "TrainOnSageMaker",
    "VerifyArtifact",
    "DeployStudent",
    "ValidateStudent",
    "HostStudent",
)
SWEEPS = ("SweepTrainings", "SweepHostings")
KILLED = frozenset({*STEPS, *SWEEPS, "ApprenticeTrainingsApi", "AnswerLinear"})
MOST_KILLS = 4
"""Of a function: a step that is killed four times in a row ends its training."""

KILLED_EVERY = (0.5, 2.0)
THROTTLED = "Apprentice"
THROTTLED_SHARE = 0.2
THROTTLED_SECONDS, RELAXED_SECONDS = 5.0, 15.0
SWEPT_EVERY_SECONDS = 3.0
COMPONENT = "component"
_SAMPLE_SECONDS = 0.15
_BUSY_SECONDS = 0.01


class LifeMishaps:
    """Three threads, seeded: one kills who is at work, one throttles, one sweeps."""

    def __init__(
        self, directory: Path, proxy: ThrottlingProxy, operator: Operator, *, seed: int
    ) -> None:
        self._directory, self._proxy, self._operator = directory, proxy, operator
        self._draw = random.Random(seed)
        self._beside = Beside()
        self.killed: Counter[str] = Counter()

    def start(self) -> None:
        """Begin."""
        self._beside.start(self._kill, self._throttle, self._sweep)

    def stop(self) -> None:
        """End, and let the table have room."""
        self._beside.stop()
        self._proxy.relax()

    def _kill(self) -> None:
        while not self._beside.is_over(after=self._draw.uniform(*KILLED_EVERY) * patience()):
            working = [
                (name, one)
                for name, one in at_work(self._directory, KILLED)
                if self.killed[name] < MOST_KILLS
            ]
            if working:
                kill(*self._draw.choice(working), killed=self.killed)

    def _throttle(self) -> None:
        while not self._beside.is_over(after=RELAXED_SECONDS):
            self._proxy.throttle(THROTTLED, share=THROTTLED_SHARE)
            self._beside.is_over(after=THROTTLED_SECONDS)
            self._proxy.relax()

    def _sweep(self) -> None:
        while not self._beside.is_over(after=SWEPT_EVERY_SECONDS):
            for name in SWEEPS:
                self._operator.invoke(name)


def at_work(directory: Path, names: frozenset[str]) -> list[tuple[str, psutil.Process]]:
    """Return the workers of some functions that are doing something just now."""
    found = [(name, one) for name, one in workers_below(directory) if name in names]
    before = {one.pid: _seconds(one) for _, one in found}
    time.sleep(_SAMPLE_SECONDS)
    return [(name, one) for name, one in found if _seconds(one) - before[one.pid] >= _BUSY_SECONDS]


def _seconds(process: psutil.Process) -> float:
    with suppress(psutil.Error):
        times = process.cpu_times()
        return float(times.user + times.system)
    return 0.0


def pass_time(tables: Tables, task_id: str, *, is_stuck: bool) -> None:
    """Have what waits in a task be due: hosts are looked at, and capacity is asked for again.

    Args:
        is_stuck: whether what SageMaker makes has been made for over half an hour.
    """
    for item in tables.partition("Apprentice", hostings_of(task_id)):
        changes = {}
        if item["state"] not in {"ready", "asleep", "gone"}:
            changes["due_at"] = PAST
        if is_stuck and item["state"] == "creating" and COMPONENT in item.get("created", ()):
            changes["since"] = LONG_AGO
        if changes:
            with suppress(tables.gone):
                tables.set("Apprentice", item, while_it_has="due_at", **changes)
    for item in tables.partition("Apprentice", trainings_of(task_id)):
        if item.get("state") == "running" and "not_before" in (item.get("plan") or {}):
            with suppress(tables.gone):
                tables.set_within("Apprentice", item, "plan", "not_before", LONG_AGO)
