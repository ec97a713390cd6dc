"""Trainings that start by themselves, once there are examples enough.

Whoever counts examples has their number looked at (``examples.items.grown``), and so has whoever
changes a configuration, by which fewer may be enough (``reconfigured``). A sweep looks, starts what
is due, and takes the number off the index if it is as it was read. So nothing is asked of tasks
where nothing happens, whoever is killed leaves the number to the next sweep, and of two that sweep
one begins: a training requires its number and that none is under way.

One that could not be paid for, or whose model could not be hosted (``kept``), is held back, and
looked at again every ten minutes: to begin it would freeze its examples for nothing or pay for
nothing, and the next one would wait for another batch.
"""

from collections.abc import Callable
from datetime import timedelta

from aws_lambda_powertools import Logger

from autotune.protocol.limits import MAX_APPRENTICE_TRAININGS
from autotune_platform.apprentice.configuration.models import ApprenticeTask, Configuration
from autotune_platform.apprentice.configuration.repository import TaskRepository
from autotune_platform.apprentice.folding.repository import EvidenceRepository
from autotune_platform.apprentice.training.due import Due, next_training
from autotune_platform.apprentice.training.kept import LOOKED_AT, waits_for_host
from autotune_platform.apprentice.training.models import HeldBack, LastTraining
from autotune_platform.apprentice.training.obstacles import Obstacle, TrainingObstacles
from autotune_platform.apprentice.training.repository import Grown, TrainingRepository
from autotune_platform.apprentice.training.service import (
    latest_emergency,
    next_of,
    objection_to,
    start_execution,
)
from autotune_platform.budgets.money import MoneyBudgets
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.executions import Executions
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.sweeping import look_at_each

logger = Logger()

BY_ITSELF = "autotune"
"""Who began a training that nobody asked for."""
LOOKED_AGAIN = timedelta(minutes=1)
FAILED_AGAIN = timedelta(minutes=15)
HELD_AGAIN = timedelta(minutes=10)
_MOST = 500


@part
class TrainingStarting:
    """Starts trainings that are due.

    Attributes:
        money: publishes that a budget has no room for one.
    """

    trainings: TrainingRepository
    tasks: TaskRepository
    evidence: EvidenceRepository
    executions: Executions
    obstacles: TrainingObstacles
    money: MoneyBudgets
    clock: Clock = SYSTEM_CLOCK

    def sweep(self, *, has_time: Callable[[], bool]) -> int:
        """Look at numbers of examples that changed; return how many trainings began.

        Raises:
            Exception: the first one of what failed, once all else was looked at.
        """
        due = self.trainings.grown(self.clock.now(), limit=_MOST)
        looks = look_at_each(due, self._look, has_time=has_time, put_off=self._put_off)
        return sum(looks.require().found)

    def _put_off(self, grown: Grown) -> None:
        logger.exception("a task was not looked at", task_id=grown.task_id)
        self.trainings.look_again(grown, self.clock.now() + FAILED_AGAIN)

    def _look(self, grown: Grown) -> bool:
        task = self.tasks.find(grown.organization_id, grown.task_name)
        is_present = (
            task is not None
            and (task.id, task.state) == (grown.task_id, "kept")
            and task.definition_hash == grown.definition_hash
        )
        found = self.tasks.configuration(task.id, task.version) if task and is_present else None
        if task is None or found is None or objection_to(found.document, task.name) is not None:
            self.trainings.looked(grown)
            return False
        return self._start(grown, task, found)

    def _start(self, grown: Grown, task: ApprenticeTask, found: Configuration) -> bool:
        last = self.trainings.last(task.id)
        if last.running is not None:
            # What came meanwhile is looked at once that has ended.
            self.trainings.look_again(grown, self.clock.now() + LOOKED_AGAIN)
            return False
        due, emergency = self._due(grown, found, last)
        if not due.is_due:
            self.trainings.looked(grown)
            return False
        latest, _ = self.trainings.list(task.id, limit=LOOKED_AT, next_token=None)
        obstacle = waits_for_host(
            latest, task, found.document, self.clock.now()
        ) or self.obstacles.of(task, found.document)
        if last.number >= MAX_APPRENTICE_TRAININGS:
            said = f"task {task.name} had {last.number} trainings; make another task"
            obstacle = Obstacle("trainings", said)
        if obstacle is not None:
            self._hold_back(grown, task, last, obstacle)
            return False
        training = next_of(task, found.document, last, by=BY_ITSELF, now=self.clock.now())
        training = training.model_copy(update={"cause": due.cause, "examples": grown.examples})
        if not self.trainings.add(task, training, emergency=emergency):
            return False  # the next sweep looks at what changed
        logger.info("training started by itself", training_id=training.id, cause=due.cause)
        start_execution(self.executions, training)
        self.trainings.looked(grown)
        return True

    def _hold_back(
        self, grown: Grown, task: ApprenticeTask, last: LastTraining, obstacle: Obstacle
    ) -> None:
        """Have its status say why it does not begin, and look again later."""
        held = HeldBack(
            reason=obstacle.reason,
            message=obstacle.message,
            until=obstacle.until,
            configuration_version=task.version,
        )
        if held != last.held_back:
            logger.info("training held back", task_id=task.id, reason=held.reason)
            self.trainings.hold_back(task, last, held)
        if obstacle.no_room is not None:
            self.money.announce(obstacle.no_room)
        again = self.clock.now() + HELD_AGAIN
        self.trainings.look_again(grown, min(again, obstacle.until or again))

    def _due(self, grown: Grown, found: Configuration, last: LastTraining) -> tuple[Due, int]:
        """Return when one is due, and the latest version that raised an emergency."""
        emergency = latest_emergency(self.evidence, grown.task_id, grown.definition_hash)
        due = next_training(
            found.document,
            last,
            definition_hash=grown.definition_hash,
            examples=grown.examples,
            emergency=emergency,
        )
        return due, emergency
