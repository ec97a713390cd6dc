"""Midnight, at which a day, a week and a month end, while all kinds of things are under way.

A job trains, a host is there, runs wait in the queue, one is refused because its day's money is
spent, and one is just being asked about. The job is stopped the next day, by somebody at SageMaker.
"""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from autotune_platform.apprentice.hosting.models import Hosting
from autotune_platform.apprentice.hosting.repository import HostingRepository
from tests.chaos.invariants import Finding, moment
from tests.chaos.life_clock import TurnedClock
from tests.chaos.life_jobs import Jobs
from tests.chaos.life_world import POISON
from tests.chaos.lives import JOBS, POISONED, Life
from tests.chaos.student import intent_of
from tests.chaos.student_job import HONEST, SLOW
from tests.chaos.tables import Item

BEFORE, AFTER = timedelta(minutes=5), timedelta(seconds=5)
"""Of a run's quarter of an hour, and less than what is lost has to be looked at after."""

WAITING, REFUSED, ANSWERED, MOST_ASKED = 3, 2, 3, 8
_TRAINS_SECONDS = 1.5
"""Less than a second is billed as none."""

_STARTS_WITHIN, _COUNTS_WITHIN = 120.0, 60.0


@dataclass
class Midnight:
    """What is under way then, and what is to come of it.

    Attributes:
        put: puts the task of the poisoned teacher with a daily budget, in USD.
        day_usd: that budget as it usually is.
        committed: returns what the task's budget has committed, by day.
    """

    life: Life
    jobs: Jobs
    clock: TurnedClock
    put: Callable[[str], None]
    day_usd: str
    committed: Callable[[], Mapping[str, int]]
    refused: int = 0
    answered: int = 0
    _moved: list[str] = field(default_factory=list)
    _base: Hosting | None = None
    _seconds: int = 0

    def pass_by(self) -> None:
        """Have everything be under way, and the clock be turned."""
        life = self.life
        job = self._job_under_way()
        self._run_out_of_money()
        self.clock.turn_to(self.clock.midnight - BEFORE)
        self._look_at_host()
        for _ in range(WAITING):
            self._ask(wait=0)
        life.world.teacher.meanwhile = self._turn
        for _ in range(MOST_ASKED):
            self._ask(wait=20)
            if self.clock.is_past_midnight:
                break
        life.world.teacher.meanwhile = None
        self._ask(wait=20)  # of a process that knows where the budget stood yesterday
        self._have_money_again()
        life.catch_up()
        self._account_for_host()
        self.jobs.made.lab.sagemaker.stop_training_job(TrainingJobName=job)
        life.struck["jobs that somebody else stopped"] += 1
        life.world.train(self.jobs.hasten)
        life.ended(JOBS, "a job that somebody else stopped", {"failed job_stopped"})
        self.jobs.put(HONEST)

    def money_finding(self) -> Finding:
        """Return whether the day's money was refused within its day alone."""
        return Finding("a day's budget refuses within its day", self.refused, self._moved)

    def hosting_finding(self) -> Finding:
        """Return whether the host's time was counted in the days in which it was there."""
        name = "a host's time counts in its days"
        if self._base is None:
            return Finding(name, 0, ["no host was there at midnight"], is_of_run=True)
        assert self._base.counted_until is not None
        midnight = self.clock.midnight
        before, after = self._accounts()
        open_ = (midnight - self._base.counted_until).total_seconds()
        violations = []
        if not open_ <= before - self._seconds <= math.ceil(open_):
            violations.append(f"{before - self._seconds} s of the {open_} before midnight")
        if not 0 < after <= math.ceil((self.clock.now() - midnight).total_seconds()):
            violations.append(f"{after} s since")
        return Finding(name, before + after, violations)

    def _turn(self) -> None:
        self.clock.turn_to(self.clock.midnight + AFTER)

    def _ask(self, *, wait: int) -> None:
        self.life.start(POISONED, lambda case: f"{intent_of(case)} {POISON}", wait=wait)

    def _job_under_way(self) -> str:
        """Begin a training, and return its job once that is at work."""
        life, until = self.life, time.monotonic() + _STARTS_WITHIN
        self.jobs.put(SLOW)
        begun = life.begin(JOBS)
        while time.monotonic() < until:
            life.world.train_on(self.jobs.hasten)
            found = [
                one
                for one in self.jobs.jobs()
                if one["HyperParameters"].get("training_id") == begun["id"]
                and one["SecondaryStatus"] == "Training"
            ]
            if found:
                time.sleep(_TRAINS_SECONDS)
                life.struck["trainings under way at midnight"] += 1
                return str(found[0]["TrainingJobName"])
        raise AssertionError(f"no job of {begun} trains")

    def _run_out_of_money(self) -> None:
        """Have a task ask for more than it has for its day."""
        (spent,) = self.committed().values()
        self.put(f"{spent / 1e9:.9f}")
        before = len(self._refusals())
        for _ in range(REFUSED):
            self._ask(wait=20)
        refused = self._refusals()[before:]
        self.refused = len(refused)
        self._moved += [
            f"{run['pk']} is refused until {until}"
            for run in refused
            if (until := datetime.fromisoformat(run["exhausted"]["resets_at"]))
            != self.clock.midnight
        ]
        self.life.struck["inputs refused before midnight"] += self.refused
        self.put(self.day_usd)

    def _have_money_again(self) -> None:
        """Have the same task ask with the same money, on the next day."""
        today = self.clock.midnight.date().isoformat()
        spent = [money for day, money in self.committed().items() if day < today]
        most = max(spent)
        self.put(f"{most / 1e9:.9f}")
        before = len(self._refusals())
        for _ in range(ANSWERED):
            self._ask(wait=20)
        self._moved += [
            f"{run['pk']} is refused, on a day that has money"
            for run in self._refusals()[before:]
            if moment(run, "created_at") >= self.clock.midnight
        ]
        self.life.catch_up()
        if (now := self.committed().get(today, 0)) > most:
            self._moved.append(f"{now} committed of {most}")
        self.put(self.day_usd)

    def _refusals(self) -> list[Item]:
        runs = self.life.world.kept().runs.values()
        found = [one for one in runs if one["state"] == "refused"]
        return sorted(found, key=lambda one: str(one["created_at"]))

    def _look_at_host(self) -> None:
        """Note up to when the time of the host is counted."""
        bases = [one for one in self.jobs.hostings() if one.kind == "base" and one.counted_until]
        (self._base,) = bases
        self._seconds, _ = self._accounts()

    def _account_for_host(self) -> None:
        """Have the host looked at until its time since midnight counts.

        A look that AWS throttles counts nothing and is put off.
        """
        assert self._base is not None
        until = time.monotonic() + _COUNTS_WITHIN
        while time.monotonic() < until:
            self.jobs.look_soon(self._base)
            self.life.world.invoke("sweep_hostings")
            _, after = self._accounts()
            if after:
                self.life.struck["hosts at midnight"] += 1
                break

    def _accounts(self) -> tuple[int, int]:
        """Return for how many seconds hosts were there before midnight, and since."""
        repository, midnight = HostingRepository(self.jobs.table), self.clock.midnight
        found = repository.costs(self.jobs.task_id, "2000-01-01", "9999-12-31")
        today = midnight.date().isoformat()
        before = sum(one.seconds for day, one in found.items() if day < today)
        return before, sum(one.seconds for day, one in found.items() if day >= today)
