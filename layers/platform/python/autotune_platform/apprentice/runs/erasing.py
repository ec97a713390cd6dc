"""Deleting what a run was asked and answered, wherever that is."""

from typing import Final

from autotune.protocol.ids import is_id
from autotune_platform.access.models import Caller
from autotune_platform.apprentice.examples.models import example_of
from autotune_platform.apprentice.examples.repository import ExampleRepository
from autotune_platform.apprentice.routing import Remote
from autotune_platform.apprentice.runs.models import Run
from autotune_platform.apprentice.runs.repository import RunRepository
from autotune_platform.ledger.row_answers import RowAnswers
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import ConflictError, NotFoundError, UnavailableError
from autotune_platform.runtime.parts import part

_COUNTED_WITHIN_SECONDS: Final = 5
_ASKED: Final = "a model is being asked; delete the run's texts when that has ended"


@part
class RunErasing:
    """Deletes texts of runs: input and answers in their items, requests' texts, examples.

    What was counted of a run stays: its state, cost, pairs' scores. So nothing is deleted before
    all of it is counted, and nobody asks a model once the input is gone.
    """

    runs: RunRepository
    examples: ExampleRepository
    rows: RowAnswers
    clock: Clock = SYSTEM_CLOCK

    def erase(self, caller: Caller, run_id: str) -> None:
        """Delete the texts of a run that has ended; again, it deletes what was left.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
            ConflictError: it has not ended, is still to be checked, or a model is being asked.
            UnavailableError: it is not counted yet, or a store is busy.
        """
        run = self._run(caller, run_id)
        if run.erased_at is None:
            _require_ended(run)
            if not self.runs.is_counted(run):
                raise UnavailableError(
                    "the run is being counted", retry_after_seconds=_COUNTED_WITHIN_SECONDS
                )
            if not self.runs.erase(run, at=self.clock.now()):
                run = self._run(caller, run_id)
                if run.erased_at is None:
                    raise ConflictError(_ASKED)
        # No model is asked any more, so that these are all.
        run = self._run(caller, run_id)
        if run.remote is Remote.ANSWERED:
            self.examples.remove(example_of(run))
        row_ids = [*run.remote_row_ids, *run.additional.values()]
        if row_ids and not self.rows.erase(row_ids):
            raise ConflictError(_ASKED)

    def _run(self, caller: Caller, run_id: str) -> Run:
        run = self.runs.get(run_id) if is_id("apr", run_id) else None
        if run is None or run.organization_id != caller.organization_id:
            raise NotFoundError(f"no run {run_id}")
        return run


def _require_ended(run: Run) -> None:
    if not run.has_ended:
        raise ConflictError("the run is pending; delete its texts when it has ended")
    if run.check == "due":
        raise ConflictError("the answer is to be checked; delete its texts when that was done")
