"""Runs that wait for a grader that is down: how they are parked, and who wakes them.

A circuit is closed before parked runs are looked up, and a run is listed before its circuit is
looked up. So no wake-up is lost; and where one is, the run looks again by itself.
"""

from aws_lambda_powertools import Logger

from autotune_platform.budgets.permits import Permits
from autotune_platform.budgets.states import BudgetStates
from autotune_platform.runs.durable_wait import TaskTokens
from autotune_platform.runs.parked import ParkedRepository
from autotune_platform.runs.progress import ChunkProgress
from autotune_platform.runs.repository import RunRepository
from autotune_platform.runtime.clients import REFUSALS
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part

logger = Logger()

# Some of those that are listed are awake by now, and are no part of a wave.
_LOOKED_AT_FOR_EACH = 4
# One asks, and the other stands in where the first has ended meanwhile.
_FIRST_WAVE = 2


@part
class Parking:
    """Parks runs, and wakes them in waves."""

    records: RunRepository
    parked: ParkedRepository
    tokens: TaskTokens
    permits: Permits
    clock: Clock = SYSTEM_CLOCK

    def begin(self, progress: ChunkProgress, token: str) -> None:
        """Park a run, unless it has ended or its grader is back by now."""
        now = self.clock.now()
        is_open = self.records.begin_wait(progress, token, now)
        if is_open:
            self.parked.add(progress, token, now)
        if not is_open or not self.permits.is_open(progress.grader_id):
            self.tokens.succeed(token)

    def wake(self, grader_id: str, *, at_most: int) -> int:
        """Wake runs that are parked for a grader; return how many.

        What fails here is a delay: later waves wake the others, or they look by themselves.
        """
        woken = 0
        try:
            looked_at = at_most * _LOOKED_AT_FOR_EACH
            for place in self.parked.places(grader_id, at_most=looked_at):
                token = self.parked.take(grader_id, place)
                woken += token is not None and self.tokens.succeed(token)
                if woken >= at_most:
                    break
        except REFUSALS:
            logger.exception("parked runs not woken", grader_id=grader_id)
        if woken:
            logger.info("parked runs woken", grader_id=grader_id, runs=woken)
        return woken

    def leave(self, progress: ChunkProgress) -> None:
        """Take a run that is awake from the list."""
        try:
            self.parked.remove(progress)
        except REFUSALS:
            logger.exception("run still listed as parked", run_id=progress.run_id)


@part
class WellGraders:
    """Has a few parked runs look at a grader whose health is well again.

    Health is no answer to a question: who is woken asks one, and wakes others if it is answered.
    """

    budgets: BudgetStates
    parking: Parking
    clock: Clock = SYSTEM_CLOCK

    def seen(self, grader_id: str) -> None:
        """Note that a grader says it is well; nobody is woken before its circuit admits a probe."""
        try:
            circuit = self.budgets.circuit(grader_id)
        except REFUSALS:
            logger.exception("parked runs not woken", grader_id=grader_id)
            return
        if not circuit.wait(self.clock.unix()):
            self.parking.wake(grader_id, at_most=_FIRST_WAVE)
