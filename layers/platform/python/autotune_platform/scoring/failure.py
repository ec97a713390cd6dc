"""Ending what a broken run left behind."""

from collections.abc import Collection

from autotune_platform.completions.service import CompletionService
from autotune_platform.judging.http.waiting import CallWaits
from autotune_platform.runs.progress import ChunkProgress
from autotune_platform.runs.recorder import RunRecorder
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part
from autotune_platform.scoring.resolving import PanelResolver
from autotune_platform.verdicts.judgements import Judgement, opinion_of, verdict_of
from autotune_platform.verdicts.service import VerdictService


@part
class ChunkFailure:
    """Writes ``failed`` where a run gave up, so that nothing waits for ever."""

    completions: CompletionService
    verdicts: VerdictService
    resolver: PanelResolver
    waits: CallWaits
    recorder: RunRecorder
    clock: Clock = SYSTEM_CLOCK

    def fail(self, progress: ChunkProgress) -> ChunkProgress:
        """Write ``platform_error`` for each completion of the run that is not graded yet.

        A panel decides without the opinion that is missing then. What waits for a person's answer
        or a callback goes on waiting: those need no run.
        """
        # First, because a run without pending completions reads as completed.
        self.recorder.failed(progress)
        people = self._resolve_panel(progress)
        failure = Judgement(reason_code="platform_error")
        left = self.verdicts.undecided(progress.open_ids, progress)
        calls = self.waits.awaiting(
            (id_, progress.grader_id, progress.grader_version) for id_ in left
        )
        lost = [id_ for id_ in left if id_ not in people and id_ not in calls]
        for header in self.completions.headers(lost).values():
            verdict = verdict_of(header, failure, at=self.clock.now(), attempts=progress.attempt)
            self.verdicts.add(opinion_of(verdict, progress))
        self._resolve_panel(progress)
        return progress.finished()

    def _resolve_panel(self, progress: ChunkProgress) -> Collection[str]:
        """Have the panel decide what it can; return what waits for a person."""
        if progress.panel_id is None:
            return ()
        headers = self.completions.headers(progress.open_ids)
        return self.resolver.resolve(headers, run_id=None)
