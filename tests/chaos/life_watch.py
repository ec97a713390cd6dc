"""Looks at trainings, data sets, versions and money for trainings while they come and go."""

import gzip
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from autotune_platform.apprentice.configuration.repository import TaskRepository
from autotune_platform.apprentice.examples.sides import Digests, Side
from autotune_platform.apprentice.folding.repository import EvidenceRepository
from autotune_platform.apprentice.phases import Stage
from autotune_platform.apprentice.standing import Standing, Standings
from autotune_platform.apprentice.training.models import Training
from autotune_platform.apprentice.training.repository import TrainingRepository
from autotune_platform.budgets.uses import partition, task_scope, training_of
from autotune_platform.runtime import clients
from autotune_platform.runtime.clock import SYSTEM_CLOCK
from autotune_platform.runtime.errors import NotFoundError
from autotune_platform.storage.table import Table
from tests.chaos.invariants import Finding
from tests.chaos.tables import Item

BUCKET = "apprentice"
_MONTH = len("2026-11")


@dataclass(frozen=True)
class Watched:
    """A task that is looked at.

    Attributes:
        training_usd: what its trainings may cost in a month, in nano-USD; None where nothing does.
    """

    name: str
    id: str
    training_usd: int | None = None


@dataclass(frozen=True)
class Seen:
    """How a version stood at a time.

    Attributes:
        at: Unix seconds.
        canary_at: the pair after which it had passed its canary.
    """

    at: float
    stage: Stage
    canary_at: int | None


@dataclass
class Watch:
    """Who looks.

    Attributes:
        budget: returns the item of a scope of money.
        seen: how versions stood, by task and version.
        groups: of inputs, by task and side.
        ended: trainings that had ended, as they were first seen, by id.
        count: how often it looked.
    """

    organization_id: str
    tasks: Sequence[Watched]
    budget: Callable[[str], Item]
    seen: dict[tuple[str, int], list[Seen]] = field(default_factory=dict)
    groups: dict[tuple[str, Side], set[str]] = field(default_factory=dict)
    ended: dict[str, Training] = field(default_factory=dict)
    count: int = 0
    most: dict[str, int] = field(default_factory=dict)
    _money: list[str] = field(default_factory=list)
    _moved: list[str] = field(default_factory=list)
    _read: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Have what reads as the platform does."""
        table = Table("apprentice", clients.dynamodb())
        self._s3, self._tasks = clients.s3(), TaskRepository(table)
        self._trainings, self._evidence = TrainingRepository(table), EvidenceRepository(table)

    def standing(self, task: Watched) -> Standing:
        """Return where a task stands now."""
        standings = Standings(tasks=self._tasks, evidence=self._evidence)
        return standings.read(self.organization_id, task.name)

    def trainings(self, task: Watched) -> list[Training]:
        """Return all trainings of a task."""
        return list(self._trainings.all_of(task.id))

    def scope(self, task: Watched) -> Item:
        """Return what is set aside and spent for trainings of a task."""
        scope = task_scope(self.organization_id, training_of(task.id))
        return self.budget(partition(scope))

    def money_finding(self) -> Finding:
        """Return what was seen of money."""
        return Finding("trainingMonthly ≥ reserved + spent, at each look", self.count, self._money)

    def ended_finding(self) -> Finding:
        """Return whether what had ended stayed so."""
        return Finding("a training that has ended stays as it is", len(self.ended), self._moved)

    def look(self) -> None:
        """Look at everything once."""
        self.count += 1
        for task in self.tasks:
            self.look_at_money(task)
            self.look_at_trainings(task)
            self._look_at_data(task)
            self._look_at_versions(task)

    def look_at_money(self, task: Watched) -> None:
        """Look at what is set aside and spent."""
        if task.training_usd is None:
            return
        committed = max(months(self.scope(task), "committed#").values(), default=0)
        self.most[task.name] = max(self.most.get(task.name, 0), committed)
        if committed > task.training_usd:
            self._money.append(f"{task.name} committed {committed} of {task.training_usd}")

    def look_at_trainings(self, task: Watched) -> None:
        """Look at trainings that have ended."""
        for training in self.trainings(task):
            if training.has_ended:
                before = self.ended.setdefault(training.id, training)
                if as_it_ended(before) != as_it_ended(training):
                    self._moved.append(f"{training.id}: {before.state} became {training.state}")

    def _look_at_data(self, task: Watched) -> None:
        """Read what was frozen: of trainings that made no version it is deleted soon."""
        listed = self._s3.list_objects_v2(Bucket=BUCKET, Prefix=f"apprentice/{task.id}/data/")
        for one in listed.get("Contents", []):
            key: str = one["Key"]
            if key not in self._read:
                self._read.add(key)
                side: Side = "train" if "/train-" in key else "holdout"
                groups = self.groups.setdefault((task.id, side), set())
                groups.update(map(group_of, self._rows(key)))

    def _rows(self, key: str) -> list[Any]:
        try:
            body = self._s3.get_object(Bucket=BUCKET, Key=key)["Body"].read()
        except self._s3.exceptions.NoSuchKey:
            return []  # deleted in the meantime
        return [json.loads(line) for line in gzip.decompress(body).splitlines()]

    def _look_at_versions(self, task: Watched) -> None:
        try:
            standing = self.standing(task)
        except NotFoundError:
            return
        now = SYSTEM_CLOCK.unix()
        for number, one in standing.versions.items():
            seen = self.seen.setdefault((task.id, number), [])
            if not seen or (seen[-1].stage, seen[-1].canary_at) != (
                one.version.stage,
                one.version.canary_at,
            ):
                seen.append(Seen(now, one.version.stage, one.version.canary_at))


def as_it_ended(training: Training) -> Mapping[str, Any]:
    """Return what stays so: the job of one that was given up is paid for later (ADR 0090)."""
    later = {"job", "spent_nano_usd", "billable_seconds"}
    return training.model_dump(exclude=later if training.error == "platform_error" else set())


def group_of(row: Any) -> str:
    """Return the group of a row's input, as the platform has it without ``splitBy``."""
    return Digests.of(row["input"]).whole.hex()


def months(item: Item, prefix: str) -> dict[str, int]:
    """Return an item's numbers of months by their names, the only ones of seven characters."""
    length = len(prefix) + _MONTH
    return {
        name.removeprefix(prefix): int(value)
        for name, value in item.items()
        if name.startswith(prefix) and len(name) == length
    }
