"""Playing a stream: each input is a run of the product's ``Runner``."""

from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, cast

from autotune.protocol.ids import derived_id
from autotune_platform.apprentice.configuration.repository import TaskRepository
from autotune_platform.apprentice.local.contract import LocalAnswer, LocalQuestion, ServedModel
from autotune_platform.apprentice.phases import Derived
from autotune_platform.apprentice.runs.additional import AdditionalAsking
from autotune_platform.apprentice.runs.locally import LocalAsking
from autotune_platform.apprentice.runs.models import Run
from autotune_platform.apprentice.runs.reading import RunAnswers
from autotune_platform.apprentice.runs.remotely import RemoteAsking
from autotune_platform.apprentice.runs.repository import RunRepository
from autotune_platform.apprentice.runs.running import Runner
from autotune_platform.apprentice.runs.scoring import AsksGraders, ComparesMeaning
from autotune_platform.apprentice.standing import Standing, Standings
from autotune_platform.apprentice.students.linear import LinearModel
from autotune_platform.budgets.scopes import MoneyLimits
from autotune_platform.budgets.uses import task_scope
from autotune_platform.ledger.calling import LedgerCalls
from autotune_platform.ledger.row_answers import RowAnswers
from autotune_platform.ledger.usable_connections import UsableConnections
from benchmarks.apprentice.paying import LedgerInMemory, Money, OneConnection
from benchmarks.apprentice.stores import Known, RunsInMemory, TurnedClock
from benchmarks.apprentice.tasks import Asked
from benchmarks.apprentice.teacher import Teacher

BETWEEN_INPUTS_S = 3.0
AT_ONCE = 10
"""Inputs between two looks at where the task stands: a process remembers that for 30 seconds."""


class Students:
    """Stands for the function that hosts students."""

    def __init__(self) -> None:
        self.models: dict[str, LinearModel] = {}

    def client_for(self, configuration: Mapping[str, Any], served: ServedModel) -> "Student":
        """Return what asks a student."""
        del configuration
        return Student(served.model, self.models[served.model])


@dataclass(frozen=True)
class Student:
    """Asks one student."""

    name: str
    model: LinearModel

    def ask(self, question: LocalQuestion, *, timeout_ms: int) -> LocalAnswer:
        """Answer at once."""
        del timeout_ms
        text, confidence = self.model.answer(question.input)
        return LocalAnswer(text, self.name, confidence, 1)


class AtOnce(Executor):
    """Stands for threads: whoever is asked answers before this returns."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **named: Any) -> "Future[Any]":
        """Call a function, and return what it returned."""
        done: Future[Any] = Future()
        done.set_result(fn(*args, **named))
        return done


class StandingNow:
    """Stands for ``Standings``: where the task stood when somebody last looked."""

    def __init__(self) -> None:
        self.standing: Standing | None = None

    def of(self, organization_id: str, name: str) -> Standing:
        """Return it."""
        assert self.standing is not None
        assert (organization_id, name) == (
            self.standing.task.organization_id,
            self.standing.task.name,
        )
        return self.standing


@dataclass
class Played:
    """A task that is being asked.

    Attributes:
        asked: the task.
        teacher: the paid model.
        known: what runs add up to.
        runs: as they ended, in the order of their inputs.
        stood: where the task stood when each of them began.
    """

    asked: Asked
    teacher: Teacher
    clock: TurnedClock = field(default_factory=TurnedClock)
    runs: list[Run] = field(default_factory=list)
    stood: list[Derived] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.known = Known(self.asked)
        self.students = Students()
        self.money = Money()
        budgets = self.asked.document["budgets"]
        limits = MoneyLimits(
            day=_nano(budgets["daily"]),
            week=_nano(budgets["weekly"]),
            month=_nano(budgets["monthly"]),
        )
        task = self.asked.task
        self.money.put(task_scope(task.organization_id, task.id), limits)
        self.money.put(task.organization_id, MoneyLimits())
        connection = OneConnection(self.asked.connection)
        self.ledger = LedgerInMemory(connection, self.teacher, self.money, self.clock)
        self._stored = RunsInMemory()
        self._standings = StandingNow()
        nobody = object()
        self._runner = Runner(
            runs=cast("RunRepository", self._stored),
            tasks=cast("TaskRepository", nobody),
            standings=cast("Standings", self._standings),
            remote=RemoteAsking(
                calls=cast("LedgerCalls", self.ledger),
                runs=cast("RunRepository", self._stored),
                connections=cast("UsableConnections", connection),
                clock=self.clock,
            ),
            local=LocalAsking(clients=self.students),
            answers=cast("RunAnswers", Nothing()),
            rows=cast("RowAnswers", nobody),
            graders=cast("AsksGraders", nobody),
            meanings=cast("ComparesMeaning", nobody),
            additional=cast("AdditionalAsking", nobody),
            clock=self.clock,
            threads=AtOnce,
        )

    def look(self) -> Standing:
        """Look at where the task stands; runs go by that from now on."""
        self._standings.standing = self.known.standing(self.clock.unix())
        return self._standings.standing

    def ask(self, value: Mapping[str, Any], key: str) -> Run:
        """Have an input answered, and checked where that is due."""
        task, now = self.asked.task, self.clock.now()
        standing = self._standings.of(task.organization_id, task.name)
        run = Run(
            id=derived_id("apr", task.organization_id, task.id, key),
            organization_id=task.organization_id,
            task_id=task.id,
            task_name=task.name,
            configuration_version=task.version,
            definition_hash=task.definition_hash,
            created_by=task.created_by,
            input=value,
            fingerprint="",
            created_at=now,
            deadline_at=now + timedelta(minutes=15),
        )
        ended = self._runner.work(run, is_stored=False, seconds_left=_an_hour).run
        if ended.check == "due":
            ended = self._runner.work(ended, is_stored=True, seconds_left=_an_hour).run
        self.clock.sleep(BETWEEN_INPUTS_S)
        self.runs.append(ended)
        self.stood.append(standing.derived)
        return ended


class Nothing:
    """Stands for answers that nobody reads."""

    def of(self, run: Run) -> None:
        """Return none."""


def _nano(dollars: str | None) -> int | None:
    return None if dollars is None else round(float(dollars) * 10**9)


def _an_hour() -> float:
    return 3_600.0
