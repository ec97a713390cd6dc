"""Runs that wait for signals: how a wait begins, and how a signal ends it.

A signal is a grader's callback or a person's answer. A run waits with one token, whatever the
number of its completions that wait. Every signal is recorded before its run is resumed, so that a
wait which nobody ends is a delay and never a loss.
"""

from collections.abc import Collection, Sequence
from typing import Protocol

from aws_lambda_powertools import Logger

from autotune_platform.runs.durable_wait import DurableWait
from autotune_platform.runs.models import RunStatus
from autotune_platform.runs.progress import ChunkProgress
from autotune_platform.runs.repository import RunRepository
from autotune_platform.runtime.clients import REFUSALS
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.grouping import groups
from autotune_platform.runtime.parts import part
from autotune_platform.verdicts.models import OfGrader
from autotune_platform.verdicts.service import VerdictService

logger = Logger()

_LOOKED_AT_TOGETHER = 10


class AwaitedSignals(Protocol):
    """One kind of signal that completions of a run may wait for."""

    def awaited(self, completion_ids: Sequence[str], asker: OfGrader) -> Collection[str]:
        """Return those of a run's completions for which no signal has come."""


@part
class RunWaits:
    """Begins the waits of runs, and ends them."""

    repository: RunRepository
    verdicts: VerdictService
    wait: DurableWait[ChunkProgress]
    signals: Sequence[AwaitedSignals]
    clock: Clock = SYSTEM_CLOCK

    def begin(self, progress: ChunkProgress, token: str) -> None:
        """Have a run wait, unless nothing is awaited any more."""
        self.wait.begin(progress, token, is_awaited=self._awaits)

    def wake(self, run_id: str) -> None:
        """End a run's wait where none of its completions waits any more.

        No such run, one that does not wait, or a token that is lost is no error: an execution that
        is gone cannot go on, so its run is over once all of its completions are decided.
        """
        try:
            gone = self.wait.wake(run_id, is_awaited=self._awaits)
            if gone is not None:
                self._end(gone)
        except REFUSALS:
            # The signal is recorded: the run goes on when its time is up, or is redriven.
            logger.exception("run not woken", run_id=run_id)

    def look_again_within(self, run_id: str, seconds: int) -> None:
        """End a run's wait that would last longer, because something is due before.

        It looks at all that it waits for, and waits until the first of that is due.
        """
        try:
            self.wait.wake(run_id, is_awaited=lambda progress: progress.wait_seconds <= seconds)
        except REFUSALS:
            # The sweeper looks at what is due as well.
            logger.exception("run not woken", run_id=run_id)

    def _awaits(self, progress: ChunkProgress) -> bool:
        """Return whether anything is awaited; the first that is spares reading about the others."""
        return any(
            signal.awaited(some, progress)
            for some in groups(progress.waiting_ids, _LOOKED_AT_TOGETHER)
            for signal in self.signals
        )

    def _end(self, progress: ChunkProgress) -> None:
        run = self.repository.get(progress.run_id)
        if run is None or self.verdicts.undecided(run.completion_ids, progress):
            return  # the sweeper redrives them
        logger.info("run ended without its execution", run_id=run.id)
        ended = RunStatus.ended("completed", self.clock.now(), step="done", attempt=run.attempt)
        self.repository.change(run.id, run.organization_id, ended)
