"""Starting trainings, and telling what became of them."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from autotune.protocol.ids import new_id
from autotune.protocol.limits import MAX_APPRENTICE_TRAININGS, MAX_APPRENTICE_VERSIONS
from autotune.protocol.problems import LimitProblem
from autotune_platform.access.models import Caller
from autotune_platform.apprentice.configuration.models import ApprenticeTask
from autotune_platform.apprentice.configuration.service import TaskConfigurations
from autotune_platform.apprentice.configuration.trainable import (
    IN_JOBS,
    objection_to_training,
)
from autotune_platform.apprentice.folding.repository import EvidenceRepository
from autotune_platform.apprentice.training.kept import objection_to_hosting
from autotune_platform.apprentice.training.models import START_WITHIN, LastTraining, Training
from autotune_platform.apprentice.training.obstacles import TrainingObstacles
from autotune_platform.apprentice.training.repository import TrainingRepository
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import (
    ConflictError,
    NotFoundError,
    TooManyEntitiesError,
    UnavailableError,
)
from autotune_platform.runtime.executions import Executions
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.retry import BUSY

_ATTEMPTS = 8
TRAINED_HERE = IN_JOBS | {"linear"}
"""Backends that something trains so far."""


def start_execution(executions: Executions, training: Training) -> bool:
    """Start a training's present execution unless it was started; the sweeper tries again.

    It returns False where it could not be.
    """
    document = json.dumps(
        {
            "task_id": training.task_id,
            "number": training.number,
            "training_id": training.id,
            "redrive": training.redrive,
            "in_jobs": training.backend in IN_JOBS,
        }
    )
    return executions.try_start(f"{training.id}-{training.redrive}", document)


def tidy_up(executions: Executions, repository: TrainingRepository, training: Training) -> None:
    """Have another execution delete what is left of a training that was ended from outside.

    Its own would, unless that is lost. Where none is begun, the sweep does it.
    """
    again = training.model_copy(update={"redrive": training.redrive + 1})
    if start_execution(executions, again):
        repository.tidied(training)


@part
class Trainings:
    """Starts trainings of a task, one at a time.

    Attributes:
        stop_job: has a job of a name stopped.
    """

    tasks: TaskConfigurations
    repository: TrainingRepository
    evidence: EvidenceRepository
    executions: Executions
    obstacles: TrainingObstacles
    stop_job: Callable[[str], None]
    clock: Clock = SYSTEM_CLOCK

    def start(self, caller: Caller, name: str) -> Training:
        """Begin a training under the task's present definition.

        Raises:
            NotFoundError: there is no such task.
            ConflictError: its configuration trains nothing that is trained here, its evaluator is a
                grader, a job could not be paid for, or a training is under way.
            TooManyEntitiesError: the task had as many trainings as it may, or has as many versions.
            UnavailableError: others keep changing the task.
        """
        for _ in BUSY.attempts(_ATTEMPTS):
            configured = self.tasks.get(caller, name)
            task, document = configured.task, configured.configuration.document
            objection = objection_to(document, name)
            if objection is not None:
                raise ConflictError(objection)
            last = self._last(task)
            self._require_no_obstacle(task, document)
            training = next_of(
                task, document, last, by=caller.principal_id, now=self.clock.now()
            ).model_copy(update={"examples": self._examples(task)})
            emergency = latest_emergency(self.evidence, task.id, task.definition_hash)
            if self.repository.add(task, training, emergency=emergency):
                start_execution(self.executions, training)
                return training
        raise UnavailableError("others are changing this task", retry_after_seconds=1)

    def host(self, caller: Caller, name: str, number: int) -> Training:
        """Begin a training that has a kept model hosted, which an earlier one made, and judges it.

        It is trained no more: it is judged by the examples that are held out now.

        Raises:
            NotFoundError: there is no such task, or no such training.
            ConflictError: its model is not kept, the task has another definition or base model by
                now, or a training is under way.
            TooManyEntitiesError: the task had as many trainings as it may, or has as many versions.
            UnavailableError: others keep changing the task.
        """
        for _ in BUSY.attempts(_ATTEMPTS):
            configured = self.tasks.get(caller, name)
            task, document = configured.task, configured.configuration.document
            made_by = self.get(caller, name, number)
            objection = objection_to_hosting(made_by, task, document, self.clock.now())
            if objection is not None:
                raise ConflictError(objection)
            last = self._last(task)
            if len(self.obstacles.versions.all_of(task.id)) >= MAX_APPRENTICE_VERSIONS:
                raise _too_many("versions", MAX_APPRENTICE_VERSIONS, name)
            training = next_of(
                task, document, last, by=caller.principal_id, now=self.clock.now()
            ).model_copy(
                update={
                    "examples": _seen(last, made_by),
                    "model": made_by.model,
                    # What it learned from is known of that one alone.
                    "model_of": made_by.model_of or number,
                }
            )
            emergency = latest_emergency(self.evidence, task.id, task.definition_hash)
            if self.repository.add(task, training, emergency=emergency, made_by=made_by):
                start_execution(self.executions, training)
                return training
        raise UnavailableError("others are changing this task", retry_after_seconds=1)

    def get(self, caller: Caller, name: str, number: int) -> Training:
        """Return one training.

        Raises:
            NotFoundError: there is no such task, or no such training.
        """
        task = self.tasks.require(caller, name)
        found = self.repository.get(task.id, number)
        if found is None:
            raise NotFoundError(f"task {name} has no training {number}")
        return found

    def cancel(self, caller: Caller, name: str, number: int) -> Training:
        """Have a training ended; one that has ended stays as it is.

        A job that trains is stopped, and paid for as far as it came; the training ends with it.
        What one has trained and nobody judged is kept, and may be hosted later.

        Raises:
            NotFoundError: there is no such task, or no such training.
            UnavailableError: others keep changing the training.
        """
        for _ in BUSY.attempts(_ATTEMPTS):
            training = self.get(caller, name, number)
            if training.has_ended:
                return training
            is_in_job = training.step == "train" and training.job is not None
            turned = training.model_copy(update={"turn": training.turn + 1})
            if is_in_job:
                after = turned.model_copy(update={"is_canceled": True})
            else:
                now = self.clock.now()
                after = turned.ended_from_outside(now, state="failed", error="canceled")
            if self.repository.change(training, after):
                if training.job is not None and is_in_job:
                    self.stop_job(training.job.name)
                else:
                    tidy_up(self.executions, self.repository, after)
                return after
        raise UnavailableError("others are changing this training", retry_after_seconds=1)

    def list(
        self, caller: Caller, name: str, *, limit: int, next_token: str | None
    ) -> tuple[Sequence[Training], str | None]:
        """Return a page of a task's trainings, newest first.

        Raises:
            NotFoundError: there is no such task.
            InvalidRequestError: ``next_token`` is not from this list.
        """
        task: ApprenticeTask = self.tasks.require(caller, name)
        return self.repository.list(task.id, limit=limit, next_token=next_token)

    def _last(self, task: ApprenticeTask) -> LastTraining:
        """Return the last training of a task that may have another."""
        last = self.repository.last(task.id)
        if last.running is not None:
            raise ConflictError(
                f"training {last.running} of {task.name} is under way; wait for its end"
            )
        if last.number >= MAX_APPRENTICE_TRAININGS:
            raise _too_many("trainings", MAX_APPRENTICE_TRAININGS, task.name)
        return last

    def _require_no_obstacle(self, task: ApprenticeTask, document: Mapping[str, Any]) -> None:
        found = self.obstacles.of(task, document)
        if found is not None and found.reason == "versions":
            raise _too_many("versions", MAX_APPRENTICE_VERSIONS, task.name)
        if found is not None:
            raise ConflictError(found.message)

    def _examples(self, task: ApprenticeTask) -> int:
        return self.evidence.examples_of(task.id, task.definition_hash)


def next_of(
    task: ApprenticeTask,
    document: Mapping[str, Any],
    last: LastTraining,
    *,
    by: str,
    now: datetime,
) -> Training:
    """Return the training of a task that follows its last one."""
    return Training(
        id=new_id("trn"),
        organization_id=task.organization_id,
        task_id=task.id,
        task_name=task.name,
        number=last.number + 1,
        backend=document["training"]["backend"],
        configuration_version=task.version,
        definition_hash=task.definition_hash,
        created_at=now,
        created_by=by,
        due_at=now + START_WITHIN,
    )


def objection_to(document: Mapping[str, Any], name: str) -> str | None:
    """Return why a configuration trains nothing here; None where it does."""
    training = document["training"]
    if training is None:
        return f"the configuration of {name} has no training"
    if training["backend"] not in TRAINED_HERE:
        known = ", ".join(sorted(TRAINED_HERE))
        return f"training.backend is {training['backend']}; trained here: {known}"
    found = objection_to_training(document)
    return None if found is None else str(found)


def _seen(last: LastTraining, made_by: Training) -> int:
    """Return how many examples trainings have seen: one that hosts a model takes none of it back.

    Else the next would be due by what the model learned from, and so be paid for again.
    """
    is_same = last.definition_hash == made_by.definition_hash
    return max(last.examples if is_same else 0, made_by.examples)


def latest_emergency(evidence: EvidenceRepository, task_id: str, definition_hash: str) -> int:
    """Return the latest version of a definition that raised an emergency; 0 where none did."""
    return max(
        (
            one.version
            for one in evidence.all_of(task_id)
            if one.told_emergency and one.definition_hash == definition_hash
        ),
        default=0,
    )


def _too_many(what: str, most: int, name: str) -> TooManyEntitiesError:
    return TooManyEntitiesError(
        f"task {name} has {most} {what} of its small model; make another task",
        limit=LimitProblem(name=what, maximum=most, unit=what, actual=most),
    )
