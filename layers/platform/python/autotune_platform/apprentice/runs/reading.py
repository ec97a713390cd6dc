"""Reading runs: one by its id, or a task's of some days."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from autotune.protocol.apprentice_tasks import TASK_NAME
from autotune.protocol.ids import is_id
from autotune.protocol.limits import MAX_APPRENTICE_RUN_DAYS
from autotune_platform.access.models import Caller
from autotune_platform.apprentice.configuration.repository import TaskRepository
from autotune_platform.apprentice.routing import Model
from autotune_platform.apprentice.runs.models import Run, RunState
from autotune_platform.apprentice.runs.outputs import read_output
from autotune_platform.apprentice.runs.repository import RunRepository
from autotune_platform.ledger.row_answers import RowAnswers
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import InvalidRequestError, NotFoundError
from autotune_platform.runtime.parts import part


@part
class RunAnswers:
    """Finds the answers of runs that have ended."""

    tasks: TaskRepository
    answers: RowAnswers

    def of(self, run: Run) -> Mapping[str, Any] | None:
        """Return a run's answer; None where it has none, or its texts were deleted."""
        text = None
        if run.answers is Model.LOCAL:
            text = run.local_output
        elif run.answers is Model.REMOTE and run.remote_row_id is not None:
            text = self.answers.text(run.remote_row_id)
        if text is None:
            return None
        configuration = self.tasks.configuration(run.task_id, run.configuration_version)
        if configuration is None:
            return None
        return read_output(text, configuration.document["outputSchema"])


@part
class RunReading:
    """Reads an organisation's runs."""

    runs: RunRepository
    tasks: TaskRepository
    answers: RunAnswers
    clock: Clock = SYSTEM_CLOCK

    def get(self, caller: Caller, run_id: str) -> tuple[Run, Mapping[str, Any] | None]:
        """Return a run with its answer.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
        """
        run = self.runs.get(run_id) if is_id("apr", run_id) else None
        if run is None or run.organization_id != caller.organization_id:
            raise NotFoundError(f"no run {run_id}")
        return run, self.answers.of(run)

    def list(
        self,
        caller: Caller,
        task_name: str,
        *,
        day: date | None,
        first: date | None,
        last: date | None,
        state: RunState | None,
        limit: int,
        next_token: str | None,
    ) -> tuple[Sequence[Run], str | None]:
        """Return a page of a task's runs of some UTC days, newest first, without their texts.

        With a state, a page may be short while there are more.

        Args:
            day: the only one; today's without any.
            first: of several; the last one without it.
            last: of several, included; today without it.

        Raises:
            NotFoundError: there is no such task.
            InvalidRequestError: days are in no order, too many, or given in both ways, or
                ``next_token`` is not from this list.
        """
        first, last = self._days(day, first, last)
        task = None
        if TASK_NAME.fullmatch(task_name):
            task = self.tasks.find(caller.organization_id, task_name)
        if task is None or task.state == "deleting":
            raise NotFoundError(f"no task {task_name}")
        runs, token = self.runs.of_days(task.id, first, last, limit=limit, next_token=next_token)
        return [run for run in runs if state is None or run.state == state], token

    def _days(self, day: date | None, first: date | None, last: date | None) -> tuple[date, date]:
        if day is not None:
            if first is not None or last is not None:
                raise InvalidRequestError.of_field("day", "left out where from or to is given")
            return day, day
        until = last or self.clock.now().date()
        since = first or until
        if until < since:
            raise InvalidRequestError.of_field("to", "a day that is not before from")
        if (until - since).days >= MAX_APPRENTICE_RUN_DAYS:
            raise InvalidRequestError.of_field(
                "from", f"fewer than {MAX_APPRENTICE_RUN_DAYS} days before to"
            )
        return since, until
