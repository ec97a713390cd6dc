"""Slots at a grader, spread over lanes: small items that few rounds write at the same time.

A lane has as many of the slots as a round takes at most, and is one item below 1 KB: what a round
leaves of a larger one, a second round takes, which holds a function for a call or two. Taking and
releasing cost a write unit each, whatever the grader's limit. One item for all leases grew to 57
units at 1,000 slots, and every round wrote it.
"""

import math
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from autotune_platform.budgets.leases import Leases
from autotune_platform.budgets.repository import BudgetRepository
from autotune_platform.runtime.clients import REFUSALS, is_throttled
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.parts import part

LANE_SLOTS = 8
"""As many as one round takes at most."""

_LANES_TRIED = 3
_UNKNOWN_HOLD_SECONDS = 2


class Taken(NamedTuple):
    """Slots that a round got, and the lane that they are in.

    ``hold_seconds`` is for how long rounds held theirs in it of late.
    """

    slots: int
    lane: int = 0
    hold_seconds: float = _UNKNOWN_HOLD_SECONDS


def lanes_of(limit: int) -> int:
    """Return over how many lanes so many slots are spread: as many rounds have some at once."""
    return math.ceil(limit / LANE_SLOTS)


@contextmanager
def busy_is_none() -> Iterator[None]:
    """Go on without what the table was too busy for: there is no permit then."""
    try:
        yield
    except UnavailableError:
        pass
    except REFUSALS as error:
        if not is_throttled(error):
            raise


@part
class Slots:
    """Takes and releases slots; all functions together never take more than there are."""

    budgets: BudgetRepository
    clock: Clock = SYSTEM_CLOCK

    def take(self, scope: str, round_id: str, *, wanted: int, limit: int, seconds: float) -> Taken:
        """Take up to so many slots of one lane, until they expire; none where the table is busy.

        A few lanes are tried, so that a free slot may be missed while most are taken.
        """
        lanes = lanes_of(limit)
        none = Taken(0)
        for lane in random.sample(range(lanes), min(lanes, _LANES_TRIED)):
            most = limit // lanes + (lane < limit % lanes)
            now = self.clock.unix()

            def taken(leases: Leases, now: float = now, most: int = most) -> tuple[Leases, Taken]:
                after, slots = leases.taken(
                    round_id, now, wanted=wanted, limit=most, seconds=seconds
                )
                # What finds nothing free is not written.
                hold = leases.mean_seconds or _UNKNOWN_HOLD_SECONDS
                return (after if slots else leases), Taken(slots, hold_seconds=hold)

            with busy_is_none():
                found = self.budgets.change_leases(scope, now, taken, lane=lane)
                if found.slots:
                    return found._replace(lane=lane)
                none = found
        return none

    def release(self, scope: str, round_id: str, lane: int) -> None:
        """Release a round's slots; where the table is busy, their lease expires by itself."""
        now = self.clock.unix()
        with busy_is_none():
            self.budgets.change_leases(
                scope, now, lambda leases: (leases.released(round_id, now), None), lane=lane
            )
