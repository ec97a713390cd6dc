"""How many requests of an organisation wait at once: each that does holds a function.

Functions that wait are few, and shared by all. Whoever has as many waiting as they may is answered
at once instead, with what is known by then; nothing is refused.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from autotune.protocol.ids import new_id
from autotune_platform.access.models import Caller
from autotune_platform.budgets.slots import Slots
from autotune_platform.runtime.parts import part

# A function that is killed releases nothing: its place is free when its wait would have ended.
_BEYOND_THE_WAIT_SECONDS = 10


@part
class WaitingShares:
    """Keeps each organisation within its share of the functions that wait.

    Attributes:
        of: what waits; the functions of each kind are shared apart.
    """

    slots: Slots
    of: Literal["reads", "rewards"]

    @contextmanager
    def share(self, caller: Caller, seconds: float) -> Iterator[float]:
        """Take a place for a request that would wait; give how long it may, 0 without a place."""
        most = caller.limits.waiting_requests
        if seconds <= 0 or most == 0:
            yield 0
            return
        scope, request_id = f"waiting#{self.of}#{caller.organization_id}", new_id("req")
        taken = self.slots.take(
            scope, request_id, wanted=1, limit=most, seconds=seconds + _BEYOND_THE_WAIT_SECONDS
        )
        if not taken.slots:
            yield 0
            return
        try:
            yield seconds
        finally:
            self.slots.release(scope, request_id, taken.lane)
