"""How many steps of an organisation's batches run at once: each holds a function for minutes.

The functions that work on batches are reserved, and shared by all. A step that finds no place waits
in its execution or in its queue, where it holds nothing. Some functions are left to those that only
look whether there is one, so that none is refused: what Lambda refuses is tried again at random.
"""

import random
from collections.abc import Iterator
from contextlib import contextmanager

from autotune_platform.budgets.waiting import WaitingShares
from autotune_platform.runtime.parts import part

_SHORTEST_WAIT, _LONGEST_WAIT = 30, 90


def at_once(functions: int) -> int:
    """Return how many of so many functions may be held by steps of all organisations."""
    return max(functions * 4 // 5, 1)


def share_of(functions: int) -> int:
    """Return how many of so many functions may be held by steps of one organisation."""
    return max(functions // 4, 1)


@part
class StepShares:
    """Keeps each organisation within its share.

    Attributes:
        functions: how many there are; None where nothing is bounded.
    """

    waiting: WaitingShares
    functions: int | None = None

    @contextmanager
    def place(self, organization_id: str, seconds: float) -> Iterator[bool]:
        """Take a place for a step of up to so many seconds; give whether there was one."""
        if self.functions is None:
            yield True
            return
        most = share_of(self.functions)
        with self.waiting.place(organization_id, seconds, most=most) as is_taken:
            yield is_taken

    @staticmethod
    def wait_seconds() -> int:
        """Return how long what found no place waits: not all that did come back at once."""
        return random.randint(_SHORTEST_WAIT, _LONGEST_WAIT)  # noqa: S311 - it spreads load
