"""Steps of runs of decks, whatever kind they are: those that judge, propose, or generate."""

from collections.abc import Callable
from datetime import timedelta

from autotune_platform.decks.grader_repository import DeckGraderRepository
from autotune_platform.decks.labels.drifting import DriftWatch, watched
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
    generating: RunWork
    proposing: ProposalWork
    graders: DeckGraderRepository
    watch: DriftWatch
    shares: StepShares
    clock: Clock = SYSTEM_CLOCK

    def advance(
        self, deck_id: str, run_id: str, *, redrive: int, seconds_left: Callable[[], float]
    ) -> RunStep:
        """Do what there is to do; an execution from before the latest redrive has nothing to do."""
        run = self.repository.get(deck_id, run_id)
        if run is None:
            return RunStep(done=True)
        if not run.is_open or run.redrive != redrive:
            if not run.is_open:
                # A step that was killed behind the end of its run comes again.
                self.repository.forget(run)
            return self._over(run, RunStep(done=True, measures=run.is_ended_replay))
        with self.shares.place(run.organization_id, seconds_left()) as has_place:
            if not has_place:
                return self._without_place(run)
            if run.kind == "propose":
                return self.proposing.advance(run, seconds_left=seconds_left)
            work = self.generating if run.kind == "generate" else self.judging
            step = work.advance(deck_id, run_id, redrive=redrive, seconds_left=seconds_left)
            return self._over(run, step) if step.done else step

    def _without_place(self, run: Run) -> RunStep:
        """Wait in the execution, where nothing is held; the run is not lost meanwhile."""
        seconds = self.shares.wait_seconds()
        due_at = self.clock.now() + timedelta(seconds=seconds) + START_WITHIN
        waiting = run.model_copy(update={"due_at": due_at, "revision": run.revision + 1})
        self.repository.change(run, waiting)
        return RunStep(done=False, wait_seconds=seconds)

    def _over(self, run: Run, step: RunStep) -> RunStep:
        """Hold labels that were there before their judgements against what is published.

        A step that was killed behind the end of its run comes again, and looks.
        """
        if run.kind in {"grade", "replay"} and not run.repeat:
            named = {one.grader_id for one in run.graders}
            for grader in self.graders.list(run.deck_id):
                if grader.id in named and watched(grader.published) is not None:
                    self.watch.look(grader)
        return step
