"""Steps of runs of decks, whatever kind they are: those that judge, and those that propose."""

from collections.abc import Callable
from datetime import timedelta

from autotune_platform.decks.proposing.work import ProposalWork
from autotune_platform.decks.runs.models import Run
from autotune_platform.decks.runs.repository import RunRepository
from autotune_platform.decks.runs.starting import START_WITHIN
from autotune_platform.decks.runs.work import RunStep, RunWork
from autotune_platform.ledger.step_shares import StepShares
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part


@part
class RunSteps:
    """Goes on with runs of decks, of each organisation within its share of the functions."""

    repository: RunRepository
    judging: RunWork
    proposing: ProposalWork
    shares: StepShares
    clock: Clock = SYSTEM_CLOCK

    def advance(
        self, deck_id: str, run_id: str, *, redrive: int, seconds_left: Callable[[], float]
    ) -> RunStep:
        """Do what there is to do; an execution from before the latest redrive has nothing to do."""
        run = self.repository.get(deck_id, run_id)
        if run is None or not run.is_open or run.redrive != redrive:
            return RunStep(done=True)
        with self.shares.place(run.organization_id, seconds_left()) as has_place:
            if not has_place:
                return self._without_place(run)
            if run.kind == "propose":
                return self.proposing.advance(run, seconds_left=seconds_left)
            return self.judging.advance(deck_id, run_id, redrive=redrive, seconds_left=seconds_left)

    def _without_place(self, run: Run) -> RunStep:
        """Wait in the execution, where nothing is held; the run is not lost meanwhile."""
        seconds = self.shares.wait_seconds()
        due_at = self.clock.now() + timedelta(seconds=seconds) + START_WITHIN
        waiting = run.model_copy(update={"due_at": due_at, "revision": run.revision + 1})
        self.repository.change(run, waiting)
        return RunStep(done=False, wait_seconds=seconds)
