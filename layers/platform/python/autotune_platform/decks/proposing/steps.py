"""Steps of runs of decks, whatever kind they are: those that judge, and those that propose."""

from collections.abc import Callable

from autotune_platform.decks.proposing.work import ProposalWork
from autotune_platform.decks.runs.repository import RunRepository
from autotune_platform.decks.runs.work import RunStep, RunWork
from autotune_platform.runtime.parts import part


@part
class RunSteps:
    """Goes on with runs of decks."""

    repository: RunRepository
    judging: RunWork
    proposing: ProposalWork

    def advance(
        self, deck_id: str, run_id: str, *, redrive: int, seconds_left: Callable[[], float]
    ) -> RunStep:
        """Do what there is to do; an execution from before the latest redrive has nothing to do."""
        run = self.repository.get(deck_id, run_id)
        if run is None or run.kind != "propose":
            return self.judging.advance(deck_id, run_id, redrive=redrive, seconds_left=seconds_left)
        if not run.is_open or run.redrive != redrive:
            return RunStep(done=True)
        return self.proposing.advance(run, seconds_left=seconds_left)
