"""Which of the items that a counter is spread over a thread adds to."""

from random import Random
from threading import local

LANES = 512
"""Items that one counter is spread over at most. Their sum is the count, whichever was written."""

_FIRST_LANES = 16


class Lane(local):
    """A thread's own lane, as far as it knows: it keeps one until another thread gets in its way.

    As many processes count at the same time as the stream has shards, beside the threads of a
    sweep, and of two transactions on an item at the same time one fails. Two in lanes of their own
    never meet. The first choice is among few lanes: where few count, a counter has few items that
    are read to sum it up.
    """

    def __init__(self, dice: Random | None = None) -> None:
        self._dice = dice or Random()  # noqa: S311 - chooses an item, and guards nothing
        self.number = self._dice.randrange(_FIRST_LANES)

    def leave(self) -> None:
        """Take another lane, because somebody else may be writing this one."""
        self.number = (self.number + self._dice.randrange(1, LANES)) % LANES
