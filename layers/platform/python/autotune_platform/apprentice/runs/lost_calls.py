"""What a run has of a call whose worker was killed: that it is over, and what it may have cost."""

from collections.abc import Sequence

from autotune_platform.apprentice.configuration.repository import TaskRepository
from autotune_platform.apprentice.routing import Refusal, Remote
from autotune_platform.apprentice.runs.models import Run, RunFault
from autotune_platform.apprentice.runs.repository import RunRepository
from autotune_platform.ledger.models import Row
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part
from autotune_platform.storage.counting import Addition


@part
class LostCalls:
    """Writes the end of lost calls to their runs, in the transaction that settles them."""

    runs: RunRepository
    tasks: TaskRepository
    clock: Clock = SYSTEM_CLOCK

    def __call__(self, row: Row) -> Sequence[Addition]:
        """Return what is written of a row that was lost; nothing where it is of no open attempt."""
        run = None if row.apprentice_run_id is None else self.runs.get(row.apprentice_run_id)
        if run is not None and row.id in run.additional.values():
            return self.runs.paying_additional(run, row.cost_nano_usd)
        if run is None or run.remote_asking != row.id:
            return ()
        return [self.runs.writing(self._without(run, row), before=run)]

    def _without(self, run: Run, row: Row) -> Run:
        """Return a run without the attempt that was lost; it ends where that was the last one.

        Otherwise whoever gets it next from its queue makes another.
        """
        code, message = "outcome_unclear", "the call was interrupted"
        if row.error is not None:
            code, message = row.error.code, row.error.message
        over = run.model_copy(
            update={
                "remote_asking": None,
                "remote_fault": RunFault(code=code, message=message),
                "cost_nano_usd": run.cost_nano_usd + row.cost_nano_usd,
            }
        )
        if self._may_try_again(run):
            return over
        failed = {"remote": Remote.FAILED}
        if run.has_ended:
            # One that the sweep ended has no answer that this call would have checked.
            check = "failed" if run.check == "due" else run.check
            return over.model_copy(update={**failed, "check": check})
        ended = {
            "state": "failed",
            "refusal": Refusal.REMOTE_UNAVAILABLE,
            "ended_at": self.clock.now(),
        }
        return over.model_copy(update={**failed, **ended})

    def _may_try_again(self, run: Run) -> bool:
        if run.deadline_at <= self.clock.now():
            return False
        configuration = self.tasks.configuration(run.task_id, run.configuration_version)
        if configuration is None:
            return False
        most: int = configuration.document["remote"]["primary"]["maxRetries"]
        return run.attempts <= most
