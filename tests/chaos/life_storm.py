"""The suite ``lives``: what is put up for it, and what is found in the end."""

import json
import logging
import os
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from autotune_platform.apprentice.folding.settings import rules_of
from autotune_platform.apprentice.folding.versions import attempts
from autotune_platform.apprentice.training import elsewhere
from autotune_platform.apprentice.training.repository import TrainingRepository
from autotune_platform.budgets.uses import partition, task_scope
from autotune_platform.runtime import clients
from autotune_platform.storage.table import Table
from functions.apprentice import sweep_trainings
from tests.chaos import apprentice_invariants as held
from tests.chaos import invariants
from tests.chaos import life_days as days
from tests.chaos import life_invariants as lived
from tests.chaos.apprentice_invariants import Kept
from tests.chaos.apprentice_money import Looks
from tests.chaos.invariants import Finding
from tests.chaos.life_clock import TurnedClock
from tests.chaos.life_jobs import LOCAL, MONTHLY_USD, Jobs, job_training
from tests.chaos.life_midnight import Midnight
from tests.chaos.life_watch import Watch, Watched, months
from tests.chaos.life_world import World
from tests.chaos.lives import (
    JOBS,
    LEARNING,
    POISONED,
    TASKS,
    Life,
    NeverError,
    be_poisoned,
    configuration,
    learn,
    training,
)
from tests.chaos.student_job import HONEST
from tests.chaos.tables import Item
from tests.support.apprentice_runs import Runs
from tests.support.apprentice_runs import runs as make_runs
from tests.support.granted import denied_since_last
from tests.support.ledger import later
from tests.support.ledger import ledger as make_ledger
from tests.support.platform import platform as make_platform
from tests.support.training_jobs import JobTrainings, job_trainings
from tests.support.trainings import trainings as make_trainings

SEED = 20_261_127
DAILY_USD = "0.5"
_NANO = 1_000_000_000
_PREFIX = "autotune"
_GOES_WITHIN = 60.0
_STOPS_WITHIN = 1.0
_SWEPT_AFTER = (6, 8, 10, 26, 28)
"""Minutes: a job that runs is stopped first, and one that is nowhere is waited for a while."""
_LOOKED_AFTER = frozenset(
    {
        "follow_runs",
        "sweep_trainings",
        "sweep_hostings",
        "freeze_examples",
        "train_linear",
        "train_on_sage_maker",
        "verify_artifact",
        "deploy_student",
        "validate_student",
        "host_student",
        "fail_training",
        "trainings",
        "promote",
        "rollback",
    }
)
"""Deeds after which something may have become of a version."""


def live(console: Console, *, seed: int = SEED) -> list[Finding]:
    """Have versions live through everything; return what was found."""
    began = time.monotonic()

    def say(what: str) -> None:
        console.print(f"{time.monotonic() - began:4.0f} s {what}", highlight=False)

    # What functions say of each kill and refusal is not what this is about.
    logging.disable(logging.CRITICAL)
    clock = TurnedClock()
    with clock.read_by_all(), _everything() as (runs, made, folder):
        storm = Storm(runs, made, folder, random.Random(seed), say, clock)
        storm.live()
        storm.settle()
        say("settled")
        return storm.findings(console)


@contextmanager
def _everything() -> Iterator[tuple[Runs, JobTrainings, Path]]:
    with (
        tempfile.TemporaryDirectory(prefix="autotune-lives-") as name,
        pytest.MonkeyPatch.context() as patched,
        make_platform(patched) as platform,
        make_ledger(platform) as ledger,
        make_runs(ledger) as runs,
        make_trainings(runs, patched),
        job_trainings(runs, Path(name), patched) as made,
    ):
        # What is to be tried again in ten minutes is tried again at once.
        patched.setattr(elsewhere, "TRY_AGAIN_AFTER", timedelta())
        denied_since_last()
        yield runs, made, Path(name)


@dataclass
class Storm:
    """The three tasks."""

    runs: Runs
    made: JobTrainings
    folder: Path
    draw: random.Random
    say: Callable[[str], None]
    clock: TurnedClock

    def __post_init__(self) -> None:
        """Have all that runs, and who looks."""
        self.world = World(self.runs, self.draw)
        self.life = Life(self.world, self._hasten, self.say)
        self.jobs = Jobs(self.life, self.made, self._put_jobs, self.folder)
        self.midnight = Midnight(
            self.life,
            self.jobs,
            self.clock,
            lambda daily: self._put(POISONED, daily=daily),
            DAILY_USD,
            self._committed_for_poisoned,
        )
        self.jobs.meanwhile = self.midnight.pass_by
        self.organization_id: str = self.runs.platform.me()["organizationId"]
        self.ids: dict[str, str] = {}
        self.watch = Watch(self.organization_id, [], self.world.budget)
        self.looks = Looks(self, self.world.teacher, self.organization_id, {})
        self.world.after = self._look
        self.world.killer.also(self.made.lab.sagemaker)

    def live(self) -> None:
        """Go through all of it."""
        for live in (self._learn, self._be_poisoned, self._have_jobs):
            try:
                live()
            except NeverError as never:
                self.life.stuck.append(str(never))

    def _learn(self) -> None:
        learn(self.life, lambda **changed: self._put(LEARNING, **changed))

    def _be_poisoned(self) -> None:
        be_poisoned(self.life, lambda: self._put(POISONED))

    def _have_jobs(self) -> None:
        self._put_jobs(HONEST)
        self.jobs.live(self.ids[JOBS])

    def settle(self) -> None:
        """Have all runs end, and jobs paid for that nobody looks after."""
        pending = [
            id_
            for id_, run in self.world.kept().runs.items()
            if run["state"] == "pending" or run.get("check") == "due"
        ]
        self.world.settle(pending)
        self._pay_for_left_jobs()

    def _pay_for_left_jobs(self) -> None:
        """Let time pass for jobs of trainings that were given up, until their notes are closed."""
        for minutes in _SWEPT_AFTER:
            with later(timedelta(minutes=minutes)):
                sweep_trainings.parts().job_watching.sweep(has_time=lambda: True)
            time.sleep(_STOPS_WITHIN)

    def findings(self, console: Console) -> list[Finding]:
        """Check every invariant."""
        kept, watch = self.world.kept(), self.watch
        watch.look()
        billed = self.world.teacher.billed()
        spent = {scope: self.looks.spent(scope) for scope in self.looks.limits}
        jobs = next(one for one in watch.tasks if one.name == JOBS)
        scope = watch.scope(jobs)
        faults = self._faults(kept)
        console.print(
            f"lives: {len(kept.runs)} runs; killed {dict(self.world.killed)}; {watch.count} looks; "
            f"billed {billed:,}, spent {spent[self.organization_id]:,} nano-USD; faults {faults}",
            highlight=False,
        )
        return [
            held.every_run_is_there(self.life.taken, len(self.life.taken), kept),
            held.every_run_ended(kept),
            held.runs_add_up(kept, list(self.ids.values())),
            held.each_call_is_booked_once(kept, self.world.teacher.billed_by_case()),
            held.the_ledger_covers_the_bill(kept, billed, spent, self.organization_id),
            self.looks.finding(),
            self.looks.settled_finding(),
            Finding("a key has one run", self.life.repeated, self.life.moved),
            lived.lives_go_on(self.life.stuck, self.life.outcomes),
            lived.no_row_held_out_is_learned(watch.groups, self.jobs.channels()),
            *(self._ends(task) for task in watch.tasks),
            watch.ended_finding(),
            watch.money_finding(),
            lived.money_for_trainings_adds_up(
                watch.trainings(jobs), months(scope, "committed#"), months(scope, "spent#")
            ),
            days.money_is_settled_where_it_was_taken(
                kept, {scope: self.world.budget(partition(scope)) for scope in self.looks.limits}
            ),
            days.jobs_are_paid_as_billed(watch.trainings(jobs), self.jobs.jobs(), self._price),
            self.midnight.money_finding(),
            self.midnight.hosting_finding(),
            *(one for task in watch.tasks for one in self._of_versions(kept, task)),
            lived.no_host_is_nobodys(self.jobs.hostings(), self.jobs.hosted(), stack=_PREFIX),
            lived.each_came_to(self.life.outcomes),
            invariants.every_fault_happened(faults),
            self._gone(),
            Finding("no function is denied anything", 1, [*map(str, denied_since_last())]),
        ]

    def _hasten(self) -> None:
        self.jobs.hasten()

    def item(self, _table: str, pk: str, sk: str) -> Item:
        """Return an item of budgets, for who looks at money."""
        return self.world.budget(pk) if sk == "limits" else {}

    @staticmethod
    def _price(instance_type: str) -> int:
        """Return what an hour of an instance costs, in nano-USD, as functions are told."""
        return int(Decimal(json.loads(os.environ["TRAINING_PRICES"])[instance_type]) * _NANO)

    def _committed_for_poisoned(self) -> dict[str, int]:
        """Return what the poisoned task's budget has committed, by day."""
        scope = task_scope(self.organization_id, self.ids[POISONED])
        item, length = self.world.budget(partition(scope)), len("committed#2026-11-27")
        return {
            name.partition("#")[2]: int(value)
            for name, value in item.items()
            if name.startswith("committed#") and len(name) == length
        }

    def _look(self, deed: str) -> None:
        if self.looks.limits:
            self.looks.look()
        if deed in _LOOKED_AFTER:
            self.watch.look()

    def _put(self, name: str, *, daily: str = DAILY_USD, **changed: Any) -> None:
        made = configuration(
            self.runs.connection_id, training=training(**changed), budgets={"daily": daily}
        )
        self._keep(name, made)

    def _put_jobs(self, alpha: int) -> None:
        budgets = {"daily": DAILY_USD, "trainingMonthly": f"{MONTHLY_USD}"}
        self._keep(
            JOBS,
            configuration(
                self.runs.connection_id,
                training=job_training(alpha),
                local=LOCAL,
                budgets=budgets,
            ),
        )

    def _keep(self, name: str, made: dict[str, Any]) -> None:
        self.ids[name] = self.life.put(name, made)
        each = int(float(DAILY_USD) * _NANO)
        self.looks.limits = {
            # It has none of its own: what its tasks may spend together.
            self.organization_id: each * len(self.ids),
            **{task_scope(self.organization_id, id_): each for id_ in self.ids.values()},
        }
        most = MONTHLY_USD * _NANO
        self.watch.tasks = [
            Watched(name, id_, most if name == JOBS else None) for name, id_ in self.ids.items()
        ]

    def _ends(self, task: Watched) -> Finding:
        repository = TrainingRepository(Table("apprentice", clients.dynamodb()))
        versions = {n: one.known for n, one in self.watch.standing(task).versions.items()}
        certified = [n for n in versions if repository.certificate(task.id, n) is not None]
        return lived.each_training_ends_once(
            self.watch.trainings(task), repository.last(task.id), versions, certified
        )

    def _of_versions(self, kept: Kept, task: Watched) -> list[Finding]:
        standing = self.watch.standing(task)
        versions = {n: one.known for n, one in standing.versions.items()}
        if not versions:
            return []
        status = self.life.status(task.name)
        told = {name: status[name] for name in ("phase", "serving", "candidate", "canary")}
        places = attempts(versions.values())
        rules = {n: rules_of(standing.document, attempt=places[n]) for n in versions}
        return [
            held.evidence_is_rebuilt(kept, task.id, rules.__getitem__),
            held.pairs_are_of_answers(kept, task.id),
            lived.phase_follows_from_pairs(
                kept, task.id, standing.document, versions, standing.examples, told
            ),
            lived.only_validated_versions_answer(
                kept, task.id, rules, self.watch.seen, self.world.forgot_at
            ),
        ]

    def _gone(self) -> Finding:
        """Delete the task that has hosts, and see them go."""
        self.world.call("DELETE", f"{TASKS}/{JOBS}")
        until = time.monotonic() + _GOES_WITHIN
        while time.monotonic() < until:
            left = [one for one in self.jobs.hostings() if one.state != "gone"]
            if not left:
                break
            for one in left:
                self.jobs.look_soon(one)
            self.world.invoke("sweep_hostings")
        return lived.nothing_is_hosted(self.jobs.hosted(), self.jobs.hostings())

    def _faults(self, kept: Kept) -> dict[str, int]:
        """Return how often each thing happened that has to happen."""
        wanted = (
            "trainings hosted",
            "trainings discarded",
            "trainings failed",
            "versions in shadow",
            "versions in canary",
            "canaries that go back by themselves",
            "versions that serve",
            "rollbacks amid traffic",
            "versions of jobs that serve",
            "trainings under way at midnight",
            "hosts at midnight",
            "inputs refused before midnight",
            "jobs that somebody else stopped",
        )
        begun = [one for task in self.watch.tasks for one in self.watch.trainings(task)]
        return {
            **{name: self.life.struck[name] for name in wanted},
            **self.life.struck,
            **days.ended_after(kept, self.clock.midnight),
            "trainings that began by themselves": sum(one.cause == "examples" for one in begun),
            "jobs interrupted": self.jobs.entered("Interrupted"),
            "jobs out of time": self.jobs.entered("MaxRuntimeExceeded"),
            "inputs refused without money": sum(
                one["state"] == "refused" for one in kept.runs.values()
            ),
            "functions killed": self.world.killed.total(),
            "calls throttled": self.world.throttle.refused,
            "requests repeated": self.life.repeated,
            "stream records doubled": self.world.doubled["stream records"],
            "messages doubled": self.world.doubled["messages"],
        }
