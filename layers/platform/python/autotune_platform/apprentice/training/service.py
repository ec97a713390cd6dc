"""Starting trainings, and telling what became of them."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autotune.protocol.ids import new_id
from autotune.protocol.limits import MAX_APPRENTICE_TRAININGS
from autotune.protocol.llm_connections import nano_usd
from autotune.protocol.problems import LimitProblem
from autotune_platform.access.models import Caller
from autotune_platform.apprentice.configuration.models import ApprenticeTask, ConfiguredTask
from autotune_platform.apprentice.configuration.service import TaskConfigurations
from autotune_platform.apprentice.training.models import START_WITHIN, Training
from autotune_platform.apprentice.training.prices import InstancePrices, reserved_for
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
IN_JOBS = frozenset({"sagemaker", "huggingface"})
"""Backends whose models a job trains, by the same program."""
TRAINED_HERE = IN_JOBS | {"linear"}
"""Backends that something trains so far."""
_BASE_MODEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(?:/[A-Za-z0-9][A-Za-z0-9._-]*)?")


def start_execution(executions: Executions, training: Training) -> None:
    """Start a training's present execution unless it was started; the sweeper tries again."""
    document = json.dumps(
        {
            "task_id": training.task_id,
            "number": training.number,
            "training_id": training.id,
            "redrive": training.redrive,
            "in_jobs": training.backend in IN_JOBS,
        }
    )
    executions.try_start(f"{training.id}-{training.redrive}", document)


@part
class Trainings:
    """Starts trainings of a task, one at a time.

    Attributes:
        stop_job: has a job of a name stopped.
    """

    tasks: TaskConfigurations
    repository: TrainingRepository
    executions: Executions
    prices: InstancePrices
    stop_job: Callable[[str], None]
    clock: Clock = SYSTEM_CLOCK

    def start(self, caller: Caller, name: str) -> Training:
        """Begin a training under the task's present definition.

        Raises:
            NotFoundError: there is no such task.
            ConflictError: its configuration trains nothing that is trained here, its evaluator is a
                grader, a job could not be paid for, or a training is under way.
            TooManyEntitiesError: the task had as many trainings as it may.
            UnavailableError: others keep changing the task.
        """
        for _ in BUSY.attempts(_ATTEMPTS):
            configured = self.tasks.get(caller, name)
            self._require_trainable(configured)
            number, running = self.repository.last(configured.task.id)
            if running is not None:
                raise ConflictError(f"training {running} of {name} is under way; wait for its end")
            if number >= MAX_APPRENTICE_TRAININGS:
                raise _too_many(name)
            training = self._next(caller, configured, number + 1)
            if self.repository.add(configured.task, training):
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

        Raises:
            NotFoundError: there is no such task, or no such training.
            UnavailableError: others keep changing the training.
        """
        for _ in BUSY.attempts(_ATTEMPTS):
            training = self.get(caller, name, number)
            if training.has_ended:
                return training
            is_in_job = training.step == "train" and training.job is not None
            changes: dict[str, object] = {"turn": training.turn + 1}
            if is_in_job:
                changes["is_canceled"] = True
            else:
                now = self.clock.now()
                changes |= {"state": "failed", "error": "canceled", "ended_at": now}
            after = training.model_copy(update=changes)
            if self.repository.change(training, after):
                if training.job is not None and is_in_job:
                    self.stop_job(training.job.name)
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

    def _require_trainable(self, configured: ConfiguredTask) -> None:
        _require_trainable(configured)
        document = configured.configuration.document
        if document["training"]["backend"] in IN_JOBS:
            _require_payable(document, self.prices)

    def _next(self, caller: Caller, configured: ConfiguredTask, number: int) -> Training:
        task, now = configured.task, self.clock.now()
        return Training(
            id=new_id("trn"),
            organization_id=task.organization_id,
            task_id=task.id,
            task_name=task.name,
            number=number,
            backend=configured.configuration.document["training"]["backend"],
            configuration_version=task.version,
            definition_hash=task.definition_hash,
            created_at=now,
            created_by=caller.principal_id,
            due_at=now + START_WITHIN,
        )


def _require_trainable(configured: ConfiguredTask) -> None:
    document, name = configured.configuration.document, configured.task.name
    training = document["training"]
    if training is None:
        raise ConflictError(f"the configuration of {name} has no training")
    if training["backend"] not in TRAINED_HERE:
        known = ", ".join(sorted(TRAINED_HERE))
        raise ConflictError(f"training.backend is {training['backend']}; trained here: {known}")
    if document["evaluator"]["type"] == "custom":
        raise ConflictError(
            "evaluator.type is custom: models are judged on held-out examples by structured_match "
            "or exact_match"
        )


def _require_payable(document: Mapping[str, Any], prices: InstancePrices) -> None:
    """Require that each job that may come of a configuration can be paid for, and named."""
    training, monthly = document["training"], document["budgets"]["trainingMonthly"]
    if _BASE_MODEL.fullmatch(training["baseModel"]) is None:
        raise ConflictError(
            "training.baseModel: a name such as organization/model, of letters, digits, ., _ and -"
        )
    if monthly is None:
        raise ConflictError("budgets.trainingMonthly: needed where instances are paid for")
    for instance in training["instanceTypes"]:
        price = prices.find(instance)
        if price is None:
            raise ConflictError(
                f"training.instanceTypes: no price is known for {instance}; "
                "whoever deploys gives it by training-prices"
            )
        needed = reserved_for(training["maxRuntimeS"], price)
        if needed > nano_usd(monthly):
            raise ConflictError(
                f"budgets.trainingMonthly is {monthly} US dollars, and {instance} for maxRuntimeS "
                f"may cost {needed / 1e9:.2f}"
            )


def _too_many(name: str) -> TooManyEntitiesError:
    most = MAX_APPRENTICE_TRAININGS
    return TooManyEntitiesError(
        f"task {name} had {most} trainings of its small model; make another task",
        limit=LimitProblem(name="trainings", maximum=most, unit="trainings", actual=most),
    )
