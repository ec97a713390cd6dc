"""Telling how runs get on, without ever standing in their way."""

from aws_lambda_powertools import Logger

from autotune_platform.runs.models import Run, RunStatus
from autotune_platform.runs.progress import ChunkProgress
from autotune_platform.runs.repository import RunRepository
from autotune_platform.runtime.clients import REFUSALS

logger = Logger()


class RunRecorder:
    """Writes down where runs stand.

    Verdicts decide what is left to do, never this: what cannot be written is logged and left out.
    """

    def __init__(self, *, repository: RunRepository) -> None:
        self._repository = repository

    def begin(self, progress: ChunkProgress, run_id: str) -> bool:
        """Store a run before it starts; return False where that failed."""
        try:
            self._repository.add(Run.of(progress, run_id))
        except REFUSALS:
            logger.exception("run not stored", run_id=run_id)
            return False
        return True

    def after_round(self, progress: ChunkProgress) -> None:
        """Note what a round left."""
        self._note(progress, RunStatus.after_round(progress), place=progress.rounds)

    def failed(self, progress: ChunkProgress) -> None:
        """Note that a run gave up."""
        self._note(progress, RunStatus.ended("failed", step="give_up", attempt=progress.attempt))

    def late_answers(self, run_id: str, count: int) -> None:
        """Count answers that came too late."""
        try:
            self._repository.count_late_answers(run_id, count)
        except REFUSALS:
            logger.exception("late answers not counted", run_id=run_id, count=count)

    def _note(
        self, progress: ChunkProgress, status: RunStatus, *, place: int | None = None
    ) -> None:
        try:
            self._repository.change(progress.run_id, progress.organization_id, status, place=place)
        except REFUSALS:
            logger.exception("run not noted", run_id=progress.run_id)
