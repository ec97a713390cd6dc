"""What a look leaves: a state, when the next look is, and what the instance cost until now.

All of it is one write, on condition that nobody else wrote meanwhile.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from aws_lambda_powertools import Logger

from autotune_platform.apprentice.configuration.repository import TaskRepository
from autotune_platform.apprentice.hosting.accounts import accounted
from autotune_platform.apprentice.hosting.looking import next_look
from autotune_platform.apprentice.hosting.models import Hosting, HostingError, State
from autotune_platform.apprentice.hosting.repository import HostingCost, HostingRepository
from autotune_platform.apprentice.instance_prices import InstancePrices
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part

logger = Logger()

STUCK_MESSAGE = "a hosting is stuck"
"""What the alarm's metric counts; see ``infra.stacks.apprentice_hosting``."""
COUNTED_MESSAGE = "an instance was counted"
"""What metrics of awake instances are made of."""
_FIRST_CONFIGURATION = 1


@part
class HostingSteps:
    """Stores steps; each returns False where somebody else wrote meanwhile."""

    repository: HostingRepository
    tasks: TaskRepository
    prices: InstancePrices
    clock: Clock = SYSTEM_CLOCK

    def enter(
        self,
        hosting: Hosting,
        state: State,
        *,
        copies: int | None = None,
        error: HostingError | None = None,
        is_missing: bool = False,
        **changes: Any,
    ) -> bool:
        """Have a hosting come into a state.

        Args:
            hosting: as it was read, with what the look found.
            state: the next one.
            copies: how many it is to have, if that changes.
            error: why it is given up, if it is.
            is_missing: whether the copy that it had is not there any more.
            changes: what else is known of it from now on.
        """
        now = self.clock.now()
        if state == "ready":
            changes["lacking"] = None
        after = hosting.model_copy(
            update={
                **changes,
                "state": state,
                "since": now,
                "silent_since": None,
                "copies": hosting.copies if copies is None else copies,
                "error": error or hosting.error,
            }
        )
        logger.info("hosting", hosting=hosting.name, state=state, error=after.error)
        return self.store(hosting, after, now, is_missing=is_missing)

    def give_up(self, hosting: Hosting, error: HostingError, **changes: Any) -> bool:
        """Have a hosting be taken down that cannot be used."""
        if error == "stuck":
            logger.error(STUCK_MESSAGE, hosting=hosting.name, state=hosting.state)
        return self.enter(hosting, "deleting", error=error, **changes)

    def stay(self, hosting: Hosting, now: datetime) -> bool:
        """Have a hosting stay as it is, until the next look."""
        return self.store(hosting, hosting, now)

    def join(self, before: Hosting, adapter: Hosting, base: Hosting, now: datetime) -> bool:
        """Store an adapter that begins anew, if its base is as it was read; see the repository."""
        due = adapter.model_copy(update={"due_at": next_look(adapter, now)})
        return self.repository.join(before, due, base)

    def store(
        self, before: Hosting, after: Hosting, now: datetime, *, is_missing: bool = False
    ) -> bool:
        """Store what a look found, with what the instance cost since the one before."""
        counted_until, seconds = accounted(before, after, now, is_missing=is_missing)
        changes = {"due_at": next_look(after, now), "counted_until": counted_until}
        after = after.model_copy(update=changes)
        costs = list(self._costs(before, seconds))
        stored = self.repository.change(before, after, *map(self.repository.cost, costs))
        for cost in costs if stored else ():
            logger.info(
                COUNTED_MESSAGE, hosting=before.name, seconds=cost.seconds, nano_usd=cost.nano_usd
            )
        return stored

    def _costs(self, hosting: Hosting, seconds: Mapping[str, int]) -> Iterator[HostingCost]:
        """Yield what an instance cost by day; that of a task which is gone is nobody's."""
        is_read = seconds and hosting.unwanted_at is None
        task = is_read and self.tasks.configuration(hosting.task_id, _FIRST_CONFIGURATION)
        if not task:
            return
        for day, count in seconds.items():
            cost = self.prices.of(hosting.instance_type or "", count)
            yield HostingCost(task.organization_id, hosting.task_id, day, count, cost)
