"""Erasing what a domain keeps of completions."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol


class CompletionEraser(Protocol):
    """What erases the texts that a domain keeps of completions, when a caller deletes them."""

    def erase_completions(self, completion_ids: Sequence[str], *, at: datetime) -> None:
        """Erase what is kept of completions' texts; erasing again changes nothing.

        Raises:
            UnavailableError: some is left; erasing all of it again is safe.
        """
