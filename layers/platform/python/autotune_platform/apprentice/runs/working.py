"""What the worker is given: new runs that somebody waits for, and ids of stored ones."""

from collections.abc import Callable, Mapping

from aws_lambda_powertools import Logger

from autotune_platform.apprentice.runs.handing_over import RunQueue
from autotune_platform.apprentice.runs.models import Run
from autotune_platform.apprentice.runs.repository import RunRepository
from autotune_platform.apprentice.runs.running import Runner, Worked
from autotune_platform.runtime.clients import REFUSALS
from autotune_platform.runtime.errors import AutotuneError, NotFoundError
from autotune_platform.runtime.parts import part

logger = Logger()


@part
class RunWork:
    """Works on runs, and has those looked at again that it could not end."""

    runs: RunRepository
    runner: Runner
    queue: RunQueue

    def work_new(self, run: Run, *, seconds_left: Callable[[], float]) -> Worked:
        """Work on a run that is not stored, unless it came before.

        Raises:
            NotFoundError: its task is gone.
            UnavailableError: a store is busy.
        """
        worked = self._looked_at_again(
            self.runner.work(run, is_stored=False, seconds_left=seconds_left)
        )
        # Whoever waits for the run does not wait for these.
        if worked.run.pairs and self.runner.has_additional(worked.run):
            self._send(worked.run)
        return worked

    def work_all(self, bodies: Mapping[str, str], *, seconds_left: Callable[[], float]) -> set[str]:
        """Work on the runs that messages name; return the messages that come again."""
        failed = set()
        for message_id, run_id in bodies.items():
            try:
                self._work_stored(run_id, seconds_left)
            except (*REFUSALS, AutotuneError):
                logger.exception("a run was not worked on", run_id=run_id)
                failed.add(message_id)
        return failed

    def _work_stored(self, run_id: str, seconds_left: Callable[[], float]) -> None:
        run = self.runs.get(run_id)
        if run is None:
            return  # it was deleted with its task
        try:
            worked = self._looked_at_again(
                self.runner.work(run, is_stored=True, seconds_left=seconds_left)
            )
            if worked.run.pairs:
                self.runner.ask_additional(worked.run, seconds_left=seconds_left)
        except NotFoundError:
            logger.info("the task of a run is gone", run_id=run_id)

    def _send(self, run: Run) -> None:
        try:
            self.queue.send(run)
        except REFUSALS:
            logger.exception("additional models are not asked", run_id=run.id)

    def _looked_at_again(self, worked: Worked) -> Worked:
        if worked.again_in is not None:
            self.queue.send(worked.run, delay_seconds=worked.again_in)
        return worked
