"""How a training goes from step to step, whoever does the step, and however often.

A step reads the training, does its part, and stores what came of it with the next step in one
write, which requires the training to be as it was read. So of two that do the same step one has a
say, and whoever finds it done leaves it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, NamedTuple

from aws_lambda_powertools import Logger

from autotune.protocol.apprentice_trainings import (
    ApprenticeTrainingError,
    ApprenticeTrainingObjection,
    ApprenticeTrainingStep,
)
from autotune_platform.apprentice.configuration.models import ApprenticeTask, Configuration
from autotune_platform.apprentice.configuration.repository import TaskRepository
from autotune_platform.apprentice.training.models import START_WITHIN, Certificate, Training
from autotune_platform.apprentice.training.repository import TrainingRepository
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.retry import BUSY
from autotune_platform.storage.counting import Addition, Check

logger = Logger()

LONGEST_STEP = timedelta(minutes=15)
_ATTEMPTS = 8


class Under(NamedTuple):
    """Which training a step is of: the input of its execution."""

    task_id: str
    number: int
    training_id: str
    redrive: int

    @classmethod
    def of(cls, event: Mapping[str, Any]) -> "Under":
        """Return what an execution's state says."""
        return cls(**{name: event[name] for name in cls._fields})


@dataclass(frozen=True)
class Begun:
    """A training whose step is to be done, with the configuration that it goes by."""

    training: Training
    task: ApprenticeTask
    configuration: Configuration


@part
class TrainingProgress:
    """Finds out whether a step is to be done, and stores what came of it."""

    trainings: TrainingRepository
    tasks: TaskRepository
    clock: Clock = SYSTEM_CLOCK

    def begin(self, under: Under, step: ApprenticeTrainingStep) -> Begun | None:
        """Return the training whose step is to be done; None where it is not, or not any more.

        One whose task is gone, or has another definition by now, ends here.
        """
        training = self.at(under)
        if training is None or training.step != step:
            return None
        begun = self.standing(training)
        if begun is None:
            self.fail(training, "task_changed")
        return begun

    def start(self, under: Under, step: ApprenticeTrainingStep) -> Begun | None:
        """Return what ``begin`` does, of a step that takes minutes; each try of it is noted.

        So it does not count as lost while a function is at it, the how many-th try that is.

        Raises:
            UnavailableError: others are changing the training.
        """
        begun = self.begin(under, step)
        if begun is None:
            return None
        noted = self.going_on(begun.training, step)
        if not self.trainings.change(begun.training, noted):
            raise UnavailableError("others are changing this training", retry_after_seconds=1)
        return replace(begun, training=noted)

    def standing(self, training: Training) -> Begun | None:
        """Return a training with its task; None where that is gone or has another definition."""
        task = self.tasks.find(training.organization_id, training.task_name)
        if task is None or task.id != training.task_id or task.state != "kept":
            return None
        configuration = self.tasks.configuration(task.id, training.configuration_version)
        if configuration is None or task.definition_hash != training.definition_hash:
            return None
        return Begun(training, task, configuration)

    def at(self, under: Under) -> Training | None:
        """Return a training that is under way, by the execution of its last redrive."""
        found = self.trainings.get(under.task_id, under.number)
        if found is None or found.id != under.training_id:
            return None
        return None if found.has_ended or found.redrive != under.redrive else found

    def job_of(self, under: Under) -> str | None:
        """Return the name of the job under way, if there is one."""
        training = self.at(under)
        if training is None or training.step != "train" or training.job is None:
            return None
        return training.job.name

    def go_on(
        self, training: Training, step: ApprenticeTrainingStep, *also: Addition, **found: Any
    ) -> bool:
        """Store what a step found, and which comes next; return False where another had a say.

        Args:
            training: as it was read.
            step: the next one, or the same where it goes on.
            also: what is written in the same transaction.
            found: what is known of the training from now on.
        """
        return self.trainings.change(training, self.going_on(training, step, **found), *also)

    def going_on(self, training: Training, step: ApprenticeTrainingStep, **found: Any) -> Training:
        """Return a training that goes on, with when it has to report again."""
        due_at = self.clock.now() + LONGEST_STEP + START_WITHIN * 2**training.redrive
        changes = {**found, "step": step, "due_at": due_at, "turn": training.turn + 1}
        return training.model_copy(update=changes)

    def discard(
        self, training: Training, *objections: ApprenticeTrainingObjection, **found: Any
    ) -> bool:
        """End a training whose model does not show enough, and say why."""
        logger.info("training discarded", training_id=training.id, objections=objections)
        return self._end(training, state="discarded", objections=objections, **found)

    def fail(
        self, training: Training, error: ApprenticeTrainingError, *also: Addition, **found: Any
    ) -> bool:
        """End a training that makes no model, and say why.

        Args:
            training: as it was read.
            error: why.
            also: what is written in the same transaction.
            found: what is known of the training from now on.
        """
        logger.info("training failed", training_id=training.id, code=error)
        return self._end(training, *also, state="failed", error=error, **found)

    def host(
        self, training: Training, certificate: Certificate, *version: Check | Addition
    ) -> bool:
        """End a training whose model is a version from now on, which the certificate names.

        Args:
            version: what stores it, in the same transaction: a training that ended without a
                version has its model deleted.
        """
        return self._end(
            training,
            *version,
            certificate=certificate,
            state="hosted",
            version=certificate.version,
        )

    def give_up_lost(self, under: Under) -> Training | None:
        """End a training whose executions are lost; return it, or None where it has ended.

        Somebody else is to delete what is left.

        Raises:
            UnavailableError: others keep changing it.
        """
        for _ in BUSY.attempts(_ATTEMPTS):
            training = self.at(under)
            if training is None:
                return None
            logger.info("training failed", training_id=training.id, code="platform_error")
            now = self.clock.now()
            ended = training.ended_from_outside(now, state="failed", error="platform_error")
            if self.trainings.change(training, ended):
                return ended
        raise UnavailableError("others are changing this training", retry_after_seconds=1)

    def give_up(self, under: Under) -> None:
        """End a training whose execution could not go on.

        Raises:
            UnavailableError: others keep changing it.
        """
        for _ in BUSY.attempts(_ATTEMPTS):
            training = self.at(under)
            if training is None or self.fail(training, "platform_error"):
                return
        raise UnavailableError("others are changing this training", retry_after_seconds=1)

    def _end(
        self,
        training: Training,
        *also: Check | Addition,
        certificate: Certificate | None = None,
        **found: Any,
    ) -> bool:
        ended = training.ended(self.clock.now(), **found)
        return self.trainings.change(training, ended, *also, certificate=certificate)
