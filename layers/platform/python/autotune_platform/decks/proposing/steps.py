"""Steps of runs of decks, whatever kind they are: those that judge, and those that propose."""

from collections.abc import Callable

from autotune_platform.decks.grader_repository import DeckGraderRepository
from autotune_platform.decks.labels.drifting import DriftWatch, watched
from autotune_platform.decks.proposing.work import ProposalWork
from autotune_platform.decks.runs.models import Run
from autotune_platform.decks.runs.repository import RunRepository
from autotune_platform.decks.runs.work import RunStep, RunWork
from autotune_platform.runtime.parts import part


@part
class RunSteps:
    """Goes on with runs of decks."""

    repository: RunRepository
    judging: RunWork
    proposing: ProposalWork
    graders: DeckGraderRepository
    watch: DriftWatch

    def advance(
        self, deck_id: str, run_id: str, *, redrive: int, seconds_left: Callable[[], float]
    ) -> RunStep:
        """Do what there is to do; an execution from before the latest redrive has nothing to do."""
        run = self.repository.get(deck_id, run_id)
        if run is None or run.kind != "propose":
            step = self.judging.advance(deck_id, run_id, redrive=redrive, seconds_left=seconds_left)
            if step.done and run is not None and not run.repeat:
                self._look(run)
            return step
        if not run.is_open or run.redrive != redrive:
            return RunStep(done=True)
        return self.proposing.advance(run, seconds_left=seconds_left)

    def _look(self, run: Run) -> None:
        """Hold labels that were there before their judgements against what is published.

        A step that was killed behind the end of its run comes again, and looks.
        """
        named = {one.grader_id for one in run.graders}
        for grader in self.graders.list(run.deck_id):
            if grader.id in named and watched(grader.published) is not None:
                self.watch.look(grader)
