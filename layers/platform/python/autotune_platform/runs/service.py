"""Reading runs and canceling them, and how callers see them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from autotune.protocol import runs as wire
from autotune.protocol.completions import VerdictCounts
from autotune.protocol.runs import RunState
from autotune_platform.access.models import Caller
from autotune_platform.completions.service import CompletionService
from autotune_platform.runs.models import ENDS, Run, RunStatus, RunSummary
from autotune_platform.runs.repository import RunRepository
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import NotFoundError
from autotune_platform.runtime.parts import part
from autotune_platform.verdicts.models import Verdict, counts_of
from autotune_platform.verdicts.service import VerdictService


@dataclass(frozen=True)
class CountedRun:
    """A run, and the verdicts on its completions by state."""

    run: Run
    counts: VerdictCounts


@part
class RunService:
    """Reads runs of the caller's organisation, and cancels what is pending in one."""

    repository: RunRepository
    completions: CompletionService
    verdicts: VerdictService
    clock: Clock = SYSTEM_CLOCK

    def get(self, caller: Caller, run_id: str) -> CountedRun:
        """Return a run as it stands.

        A run that still counts as under way although each of its completions has a verdict is over:
        its execution was lost, or has not written down its end yet. It is closed here.

        Raises:
            NotFoundError: there is none, it is too old, or it is another organisation's.
        """
        run = self._find(caller, run_id)
        counts = counts_of(self._verdicts_of(run).values(), expected=run.completions)
        if run.state in ENDS or counts.pending:
            return CountedRun(run, counts)
        return CountedRun(self._end(caller, run, "completed"), counts)

    def with_ids(self, run_ids: Iterable[str]) -> Sequence[Run]:
        """Return those runs that are stored, of any organisation; they are kept for 30 days."""
        return self.repository.get_many(run_ids)

    def list(
        self,
        caller: Caller,
        *,
        state: RunState | None,
        limit: int,
        next_token: str | None,
        grader_id: str | None = None,
    ) -> tuple[list[RunSummary], str | None]:
        """Return a page of the organisation's runs, the youngest first within each state."""
        return self.repository.of_organization(
            caller.organization_id,
            state=state,
            grader_id=grader_id,
            limit=limit,
            next_token=next_token,
        )

    def cancel(self, caller: Caller, run_id: str) -> CountedRun:
        """Cancel what is pending in a run; return where it stands, which a run that ended keeps.

        Nothing stops its execution: that finds nothing left to do when it wakes, and ends.

        Raises:
            NotFoundError: there is none, it is too old, or it is another organisation's.
        """
        run = self._find(caller, run_id)
        decided = self._verdicts_of(run)
        pending = [id_ for id_ in run.completion_ids if id_ not in decided]
        if pending:
            # Marked first: the round that finds nothing left must not note that all was graded.
            self._end(caller, run, "canceled")
            self.completions.cancel_all(pending)
        return self.get(caller, run_id)

    def _find(self, caller: Caller, run_id: str) -> Run:
        run = self.repository.get(run_id)
        if run is None or run.organization_id != caller.organization_id:
            raise NotFoundError(f"no run {run_id}")
        return run

    def _end(self, caller: Caller, run: Run, state: RunState) -> Run:
        ended = RunStatus.ended(state, self.clock.now(), step="done", attempt=run.attempt)
        self.repository.change(run.id, caller.organization_id, ended)
        return self._find(caller, run.id)

    def _verdicts_of(self, run: Run) -> dict[str, Verdict]:
        return self.verdicts.of_run(run.completion_ids, run)


def run_on_wire(counted: CountedRun) -> wire.Run:
    """Return a run with the counts of its verdicts."""
    return wire.Run(**counted.run.model_dump(), counts=counted.counts)


def summary_on_wire(summary: RunSummary) -> wire.RunSummary:
    """Return a run as a list shows it."""
    return wire.RunSummary.model_validate(summary, from_attributes=True)
