"""Trainings whose execution was lost: each is begun anew where it was, some times."""

from collections.abc import Callable
from datetime import timedelta

from aws_lambda_powertools import Logger

from autotune_platform.apprentice.training.models import START_WITHIN, Training
from autotune_platform.apprentice.training.progress import TrainingProgress, Under
from autotune_platform.apprentice.training.service import start_execution, tidy_up
from autotune_platform.runtime.executions import Executions
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.sweeping import look_at_each
from autotune_platform.storage.item_format import Item

logger = Logger()

MOST_REDRIVES = 6
"""Each waits twice as long as the one before: five hours in all."""
FAILED_AGAIN = timedelta(minutes=15)
_MOST = 500


@part
class TrainingSweeping:
    """Looks after trainings that did not report.

    Attributes:
        stop_job: has a job of a name stopped.
    """

    progress: TrainingProgress
    executions: Executions
    stop_job: Callable[[str], None]

    def sweep(self, *, has_time: Callable[[], bool]) -> int:
        """Redrive what is overdue; return how many there were.

        Raises:
            Exception: the first one of what failed, once all else was looked at.
        """
        now = self.progress.clock.now()

        def put_off(item: Item) -> None:
            logger.exception("a training was not looked at", training_id=item.get("id"))
            self.progress.trainings.put_off(item, now + FAILED_AGAIN)

        due = self.progress.trainings.due(now, limit=_MOST)
        return look_at_each(due, self._look, has_time=has_time, put_off=put_off).require().count

    def _look(self, item: Item) -> None:
        training = self.progress.trainings.read(item)
        if training.has_ended:
            if training.is_left:
                self._tidy_up(training)
            else:
                self._let_go(training)
            return
        if training.redrive < MOST_REDRIVES:
            self._redrive(training)
            return
        under = Under(training.task_id, training.number, training.id, training.redrive)
        job = self.progress.job_of(under)
        if job is not None:
            self.stop_job(job)
        ended = self.progress.give_up_lost(under)
        if ended is not None:
            self._tidy_up(ended)

    def _tidy_up(self, training: Training) -> None:
        """Have the data deleted, and what jobs left: whoever ended it may have been killed."""
        tidy_up(self.executions, self.progress.trainings, training)

    def _redrive(self, training: Training) -> None:
        redrive = training.redrive + 1
        due_at = self.progress.clock.now() + START_WITHIN * 2**redrive
        again = training.model_copy(update={"redrive": redrive, "due_at": due_at})
        if self.progress.trainings.change(training, again):
            logger.warning("training redriven", training_id=training.id, redrive=redrive)
            start_execution(self.executions, again)

    def _let_go(self, training: Training) -> None:
        """Have the model deleted that was kept for a training that has ended, as ``endings`` do.

        The index may have one as overdue that ended meanwhile: that is kept until its time.
        """
        kept_until = training.model_kept_until
        if kept_until is None:
            # Nobody has anything to do for it: it is in the way of what is due behind it.
            self.progress.trainings.tidied(training)
            return
        if self.progress.clock.now() < kept_until:
            return
        # One that was given up has begun the next execution already, which kept the model.
        again = training.model_copy(update={"redrive": training.redrive + 2})
        if start_execution(self.executions, again) and self.progress.trainings.let_go(training):
            logger.info("a model is kept no longer", training_id=training.id)
