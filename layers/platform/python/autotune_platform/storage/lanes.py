"""Which of the items that a counter is spread over a process adds to."""

from random import Random
from threading import local

LANES = 512
"""Items that one counter is spread over at most. Their sum is the count, whichever was written."""

_FIRST_LANES = 16


class Lane:
    """A lane of each thread of a process's own, as far as it knows, until another gets in its way.

    As many processes count at the same time as the stream has shards, and of two transactions on an
    item at the same time one fails. A thread does one thing at a time, so that two in lanes of
    their own never meet. The first choice is among few lanes: where few processes count, a counter
    has few items that are read to sum it up.
    """

    def __init__(self, dice: Random | None = None) -> None:
        self._dice = dice or Random()  # noqa: S311 - chooses an item, and guards nothing
        self._of_thread = local()

    @property
    def number(self) -> int:
        """The lane of the thread that asks."""
        if not hasattr(self._of_thread, "number"):
            self._of_thread.number = self._dice.randrange(_FIRST_LANES)
        number: int = self._of_thread.number
        return number

    def leave(self) -> None:
        """Take another lane, because somebody else may be writing this one."""
        self._of_thread.number = (self.number + self._dice.randrange(1, LANES)) % LANES
