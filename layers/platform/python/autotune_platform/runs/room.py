"""Whether an organisation may begin another run, or has as many begun as functions grade at once.

What waits for a function in Step Functions is tried again at random, and each try costs a
transition; what waits in a queue costs nothing, and the queue shares its consumers between
organisations. So no organisation begins more runs than could be graded.
"""

from dataclasses import field
from datetime import timedelta

from aws_lambda_powertools import Logger

from autotune_platform.runs.repository import RunRepository
from autotune_platform.runtime.clients import REFUSALS
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part

logger = Logger()

COUNTED_FOR = timedelta(minutes=10)
"""A run that began earlier and has ended no round is lost, or nearly: it takes no room."""

_COUNT_HOLDS_SECONDS = 1
_MOST_COUNTED = 1_000


@part
class RunRoom:
    """Counts the runs of organisations that are in their first round, or wait for it.

    Attributes:
        most: of one organisation; None where there is no bound.
    """

    runs: RunRepository
    most: int | None
    clock: Clock = SYSTEM_CLOCK
    _counted: dict[str, tuple[float, int]] = field(default_factory=dict, init=False)

    def take(self, organization_id: str) -> bool:
        """Return whether a run may begin, which counts from then on.

        Others count at the same time: a few runs too many may begin in a second. Where the table
        is too busy to count, there is room: a message that went back would be a dead letter soon.
        """
        if self.most is None:
            return True
        now = self.clock.unix()
        at, count = self._counted.get(organization_id, (0.0, 0))
        if now - at >= _COUNT_HOLDS_SECONDS:
            since = self.clock.now() - COUNTED_FOR
            try:
                count = self.runs.begun(organization_id, since=since, at_most=self.most)
            except REFUSALS:
                logger.warning("runs not counted", organization_id=organization_id, exc_info=True)
                return True
            at = now
        has_room = count < self.most
        if len(self._counted) >= _MOST_COUNTED:
            self._counted.clear()
        self._counted[organization_id] = at, count + has_room
        return has_room
