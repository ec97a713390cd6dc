"""Redrives runs whose execution was lost; ends those that nothing helps, or whose deck is gone."""

from datetime import timedelta

from aws_lambda_powertools import Logger

from autotune_platform.decks.repository import DeckRepository
from autotune_platform.decks.runs.models import Run
from autotune_platform.decks.runs.repository import RunRepository
from autotune_platform.decks.runs.starting import START_WITHIN, cancel_run, start_run
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import NotFoundError
from autotune_platform.runtime.executions import Executions
from autotune_platform.runtime.parts import part

logger = Logger()

MAX_LOST = 20
"""How often in a row a run is redriven that comes no further; with growing pauses, about a day.

Then it only counts what has ended of it, and cancels what waits; after as many more it is ended."""

_LONGEST_REDRIVE = timedelta(hours=1)


@part
class RunSweeper:
    """Looks after the open runs of every organisation."""

    decks: DeckRepository
    repository: RunRepository
    executions: Executions
    clock: Clock = SYSTEM_CLOCK

    def sweep(self) -> int:
        """Redrive or end every overdue run; return how many there were.

        Raises:
            ExceptionGroup: some could not be swept; all others were.
        """
        overdue = 0
        errors: list[Exception] = []
        for listed in self.repository.open_runs():
            try:
                overdue += self._sweep(listed)
            except Exception as error:
                logger.warning("run not swept", run_id=listed.id, exc_info=True)
                errors.append(error)
        if errors:
            raise ExceptionGroup("runs that could not be swept", errors)
        return overdue

    def _sweep(self, listed: Run) -> bool:
        """Redrive or end a run if it is overdue; return whether it is."""
        now = self.clock.now()
        if self._is_of_deleted_deck(listed):
            run = self.repository.get(listed.deck_id, listed.id)
            if run is not None and run.is_open:
                cancel_run(self.repository, self.executions, run, now)
                return True
        if listed.due_at > now:
            return False  # the index may be behind, and then it is not
        run = self.repository.get(listed.deck_id, listed.id)
        if run is None or not run.is_open or run.due_at > now:
            return False
        if run.lost >= MAX_LOST:
            if run.failing_at is None:
                self._give_up(run)
            else:
                self._fail(run)
            return True
        pause = min(START_WITHIN * 2 ** min(run.lost + 1, 10), _LONGEST_REDRIVE)
        redriven = run.model_copy(
            update={
                "redrive": run.redrive + 1,
                "lost": run.lost + 1,
                "due_at": now + pause,
                "revision": run.revision + 1,
            }
        )
        if self.repository.change(run, redriven):
            logger.warning("run redriven", run_id=run.id, redrive=redriven.redrive)
            start_run(self.executions, redriven)
        return True

    def _is_of_deleted_deck(self, run: Run) -> bool:
        """Return whether a run, which is not canceled, is of a deck that is there no more."""
        if run.cancel_requested_at is not None:
            return False
        try:
            self.decks.get_of(run.organization_id, run.deck_id)
        except NotFoundError:
            return True
        return False

    def _give_up(self, run: Run) -> None:
        """Have a run begin nothing more, count what was paid, cancel what waits, and end failed."""
        now = self.clock.now()
        changes = {
            "failing_at": now,
            "redrive": run.redrive + 1,
            "lost": 0,
            "due_at": now + START_WITHIN,
            "revision": run.revision + 1,
        }
        given_up = run.model_copy(update=changes)
        if self.repository.change(run, given_up):
            logger.error("run given up", run_id=run.id, position=run.position)
            start_run(self.executions, given_up)

    def _fail(self, run: Run) -> None:
        """End a run that not even this could be done with; what it stored by then stays."""
        changes = {**run.changes_of_failure(self.clock.now()), "revision": run.revision + 1}
        if self.repository.change(run, run.model_copy(update=changes)):
            logger.error("run failed", run_id=run.id, position=run.position)
            self.repository.forget(run)
