"""Recording how runs get on; a record that cannot be written stops no run."""

from aws_lambda_powertools import Logger

from autotune_platform.runs.models import Run, RunStatus
from autotune_platform.runs.progress import ChunkProgress
from autotune_platform.runs.repository import RunRepository
from autotune_platform.runtime.clients import REFUSALS
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part

logger = Logger()


@part
class RunRecorder:
    """Writes down where runs stand.

    Verdicts decide what is left to do, never this: what cannot be written is logged and left out.
    """

    repository: RunRepository
    clock: Clock = SYSTEM_CLOCK

    def begin(self, progress: ChunkProgress, run_id: str) -> bool:
        """Store a run before it starts; return False where that failed."""
        try:
            self.repository.add(Run.of(progress, run_id, self.clock.now()))
        except REFUSALS:
            logger.exception("run not stored", run_id=run_id)
            return False
        return True

    def after_round(self, progress: ChunkProgress) -> None:
        """Note what a round left."""
        status = RunStatus.after_round(progress, self.clock.now())
        self._note(progress, status, place=progress.rounds)

    def failed(self, progress: ChunkProgress) -> None:
        """Note that a run gave up."""
        now = self.clock.now()
        status = RunStatus.ended("failed", now, step="give_up", attempt=progress.attempt)
        self._note(progress, status)

    def late_answers(self, run_id: str, count: int) -> None:
        """Count answers that came too late."""
        try:
            self.repository.count_late_answers(run_id, count)
        except REFUSALS:
            logger.exception("late answers not counted", run_id=run_id, count=count)

    def _note(
        self, progress: ChunkProgress, status: RunStatus, *, place: int | None = None
    ) -> None:
        try:
            self.repository.change(progress.run_id, progress.organization_id, status, place=place)
        except REFUSALS:
            logger.exception("run not noted", run_id=progress.run_id)
