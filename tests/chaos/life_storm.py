"""The lives of versions beside all else: what is put up for them, and what is found in the end."""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console

from autotune import AutotuneClient
from autotune_platform.apprentice.evidence import Rules
from autotune_platform.apprentice.folding.settings import rules_of
from autotune_platform.apprentice.folding.versions import attempts
from autotune_platform.apprentice.hosting.models import Hosting
from autotune_platform.apprentice.training.items import CERTIFICATE, LAST, trainings_of
from autotune_platform.apprentice.training.models import LastTraining
from autotune_platform.apprentice.versions.models import ModelVersion
from autotune_platform.storage.item_format import Item as Stored
from local.records import LocalProfile
from local.stack import LocalStack
from tests.chaos import apprentice_invariants as held
from tests.chaos import life_invariants as lived
from tests.chaos.apprentice_invariants import Kept
from tests.chaos.apprentice_load import Load
from tests.chaos.invariants import Finding
from tests.chaos.jobs import LOCAL, MONTHLY_USD, Jobs, Laboratory
from tests.chaos.jobs import training as job_training
from tests.chaos.life_mishaps import SWEEPS, LifeMishaps, pass_time
from tests.chaos.life_watch import Watch, Watched, month
from tests.chaos.lives import (
    JOBS,
    LEARNING,
    POISONED,
    Life,
    be_poisoned,
    configuration,
    insisting,
    learn,
)
from tests.chaos.operator import Operator
from tests.chaos.patience import patience
from tests.chaos.student_job import HONEST, Host
from tests.chaos.tables import Tables
from tests.chaos.throttling import ThrottlingProxy

USD = "0.3"
CANARY = [0.5, 1]
ENDS_WITHIN, GOES_WITHIN = 60.0, 60.0
_NANO = 1_000_000_000


@dataclass
class LifeStorm:
    """Three tasks on threads of their own.

    Attributes:
        ids: of the tasks, by name.
    """

    stack: LocalStack
    profile: LocalProfile
    client: AutotuneClient
    load: Load
    proxy: ThrottlingProxy
    host: Host
    seed: int
    ids: dict[str, str] = field(default_factory=dict)
    _threads: list["Future[None]"] = field(default_factory=list)

    def put(self, connection_id: str, model: str, *, steady: Watched) -> None:
        """Put the tasks."""
        self._connection_id, self._model = connection_id, model
        self._tables = Tables(self.profile.aws_endpoint_url)
        self._operator = Operator(self.profile.aws_endpoint_url)
        self._put(LEARNING, canary=CANARY)
        self._put(POISONED)
        self._put_jobs(HONEST)
        self.watch = Watch(
            self._tables,
            self.profile.aws_endpoint_url,
            self.profile.organization_id,
            [
                steady,
                Watched(LEARNING, self.ids[LEARNING]),
                Watched(POISONED, self.ids[POISONED]),
                Watched(JOBS, self.ids[JOBS], training_usd=int(MONTHLY_USD) * _NANO),
            ],
        )
        self.lab = Laboratory(self.stack.directory, self.profile.aws_endpoint_url, self.host)
        self.lab.prepare(self.watch.bucket)
        self.mishaps = LifeMishaps(self.stack.directory, self.proxy, self._operator, seed=self.seed)

    def start(
        self,
        forget: Callable[[], None],
        seconds_left: Callable[[], float],
        say: Callable[[str], None],
    ) -> None:
        """Begin."""
        self.life = Life(self.client, self.load, forget, seconds_left, say)
        jobs = Jobs(
            self.life,
            self.lab,
            self._put_jobs,
            lambda is_stuck: pass_time(self._tables, self.ids[JOBS], is_stuck=is_stuck),
        )
        self.watch.start()
        self.mishaps.start()
        pool = ThreadPoolExecutor(3)
        self._threads = [
            pool.submit(learn, self.life, lambda **changed: self._put(LEARNING, **changed)),
            pool.submit(be_poisoned, self.life),
            pool.submit(jobs.live),
        ]
        pool.shutdown(wait=False)

    def join(self) -> None:
        """Wait until all have lived through what is planned; what failed in there is raised."""
        for thread in self._threads:
            thread.result()

    def stop(self) -> None:
        """End all that goes on beside."""
        self.mishaps.stop()
        self.watch.stop()

    def settle(self) -> None:
        """Have trainings that are under way end."""
        until = time.monotonic() + ENDS_WITHIN * patience()
        while time.monotonic() < until:
            running = [
                one
                for task in self.watch.tasks
                for one in self.watch.trainings(task)
                if not one.has_ended
            ]
            if not running:
                return
            pass_time(self._tables, self.ids[JOBS], is_stuck=False)
            for name in SWEEPS:
                self._operator.invoke(name)
            time.sleep(1)

    def findings(self, kept: Kept) -> list[Finding]:
        """Check every invariant of theirs, and take the tasks with hosts down."""
        jobs = self._watched(JOBS)
        scope = self.watch.scope(jobs)
        return [
            lived.no_row_held_out_is_learned(self.watch.groups, self.lab.channels()),
            *map(self._ends(kept), self.watch.tasks),
            self.watch.ended_finding(),
            self.watch.money_finding(),
            lived.money_for_trainings_adds_up(
                self.watch.trainings(jobs), month(scope, "committed#"), month(scope, "spent#")
            ),
            *(finding for task in self.watch.tasks for finding in self._of_versions(kept, task)),
            lived.no_host_is_nobodys(self._hostings(), self.lab.hosted(), stack=self.lab.stack),
            lived.each_came_to(self.life.outcomes),
            self._gone(),
        ]

    def faults(self) -> dict[str, int]:
        """Return how often each thing happened that has to happen."""
        wanted = (
            "trainings hosted",
            "trainings discarded",
            "trainings failed",
            "versions in shadow",
            "versions in canary",
            "canaries that went back by themselves",
            "versions that serve",
            "rollbacks amid traffic",
            "versions of jobs that serve",
        )
        begun = [one for task in self.watch.tasks for one in self.watch.trainings(task)]
        return {
            **{name: self.life.struck[name] for name in wanted},
            **self.life.struck,
            "trainings that began by themselves": sum(one.cause == "examples" for one in begun),
            "jobs interrupted": self.lab.entered("Interrupted"),
            "jobs out of time": self.lab.entered("MaxRuntimeExceeded"),
            "functions of trainings killed": self.mishaps.killed.total(),
            "requests throttled": self.proxy.refused,
        }

    def tell(self, console: Console) -> None:
        """Print what came of trainings."""
        told = {what: came for what, (_, came) in self.life.outcomes.items()}
        console.print(
            f"lives: {told}; killed {dict(self.mishaps.killed)}; {self.watch.count} looks, "
            f"most set aside {self.watch.most}",
            highlight=False,
        )

    def documents(self) -> Mapping[str, Mapping[str, Any]]:
        """Return the present configurations by the ids of tasks."""
        return {task.id: self.watch.standing(task).document for task in self.watch.tasks}

    def _of_versions(self, kept: Kept, task: Watched) -> list[Finding]:
        standing = self.watch.standing(task)
        versions = {number: one.known for number, one in standing.versions.items()}
        if not versions:
            return []
        status = insisting(lambda: self.client.apprentice.status(task.name))
        told = {
            "phase": status.phase,
            "serving": status.serving,
            "candidate": status.candidate,
            "canary": status.canary,
        }
        rules = self._rules(standing.document, versions)
        return [
            held.evidence_is_rebuilt(kept, task.id, rules.__getitem__),
            held.pairs_are_of_answers(kept, task.id),
            lived.phase_follows_from_pairs(
                kept, task.id, standing.document, versions, standing.examples, told
            ),
            lived.only_validated_versions_answer(kept, task.id, rules, self.watch.seen),
        ]

    @staticmethod
    def _rules(
        document: Mapping[str, Any], versions: Mapping[int, ModelVersion]
    ) -> dict[int, Rules]:
        places = attempts(versions.values())
        return {number: rules_of(document, attempt=places[number]) for number in versions}

    def _ends(self, kept: Kept) -> Callable[[Watched], Finding]:
        def ends(task: Watched) -> Finding:
            pk = trainings_of(task.id)
            last: Stored = next(iter(lived.items_of(kept, pk, LAST)), {})
            certified = lived.items_of(kept, pk, CERTIFICATE)
            versions = {
                number: one.known for number, one in self.watch.standing(task).versions.items()
            }
            return lived.each_training_ends_once(
                self.watch.trainings(task),
                LastTraining.model_validate(
                    {name: last[name] for name in LastTraining.model_fields if name in last}
                ),
                versions,
                [int(one["version"]) for one in certified],
            )

        return ends

    def _gone(self) -> Finding:
        """Delete the task that has hosts, and see them go."""
        insisting(lambda: self.client.apprentice_tasks.delete(JOBS))
        until = time.monotonic() + GOES_WITHIN * patience()
        while self.lab.hosted() and time.monotonic() < until:
            pass_time(self._tables, self.ids[JOBS], is_stuck=False)
            for item in self._hosting_items():
                self._tables.set("Apprentice", item, while_it_has="due_at", due_at="2000-01-01")
            self._operator.invoke("SweepHostings")
        return lived.nothing_is_hosted(self.lab.hosted(), self._hostings())

    def _hosting_items(self) -> list[dict[str, Any]]:
        found = self._tables.partition("Apprentice", f"{self.ids[JOBS]}#hosting")
        return [one for one in found if one["state"] != "gone"]

    def _hostings(self) -> Sequence[Hosting]:
        found = self._tables.partition("Apprentice", f"{self.ids[JOBS]}#hosting")
        return [
            Hosting.model_validate(
                {name: one[name] for name in Hosting.model_fields if name in one}
            )
            for one in found
        ]

    def _watched(self, name: str) -> Watched:
        return next(one for one in self.watch.tasks if one.name == name)

    def _put(self, name: str, **training: Any) -> None:
        made = configuration(self._connection_id, self._model, USD, training=training)
        self._keep(name, made)

    def _put_jobs(self, alpha: int) -> None:
        made = configuration(
            self._connection_id, self._model, USD, training=job_training(alpha), local=LOCAL
        )
        made["budgets"] = {"daily": USD, "trainingMonthly": MONTHLY_USD}
        self._keep(JOBS, made)

    def _keep(self, name: str, made: dict[str, Any]) -> None:
        put = self.client.apprentice_tasks.put
        self.ids[name] = insisting(lambda: put(name, configuration=made)).id
