"""How long a suite waits: for as long as something changes.

A clock alone tells a slow machine from a stuck one nowhere: beside much other work everything takes
longer, and is as right as ever. What is stuck changes no more.
"""

import threading
import time
from collections.abc import Callable
from typing import Any


class Patience:
    """Is over once nothing changed for a while, or all of it took too long; then it stays so.

    Threads may share it.

    Args:
        progress: returns what has come about so far; it is another value whenever there is more.
        quiet_seconds: after so many without a change nothing more is expected.
        most_seconds: so long all of it may take, whatever changes.
        monotonic: returns seconds since some moment.
    """

    def __init__(
        self,
        progress: Callable[[], Any],
        *,
        quiet_seconds: float,
        most_seconds: float,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._progress = progress
        self._quiet_seconds, self._most_seconds = quiet_seconds, most_seconds
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._began = self._changed_at = monotonic()
        self._seen = progress()
        self.why: str | None = None

    def is_over(self) -> bool:
        """Look at the progress; return whether there is nothing more to wait for."""
        with self._lock:
            quiet = self._looked()
            if self.why is None and quiet > self._quiet_seconds:
                self.why = f"nothing has changed for {quiet:.0f} s"
            if self.why is None and self._monotonic() - self._began > self._most_seconds:
                self.why = f"more than {self._most_seconds:.0f} s are over"
            return self.why is not None

    def quiet_for(self) -> float:
        """Look at the progress; return for how many seconds nothing has changed."""
        with self._lock:
            return self._looked()

    def _looked(self) -> float:
        now, seen = self._monotonic(), self._progress()
        if seen != self._seen:
            self._seen, self._changed_at = seen, now
        return now - self._changed_at
