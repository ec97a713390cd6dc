"""The time, as parts read it."""

import time
from datetime import UTC, datetime


class Clock:
    """Reads the time and lets it pass; a test hands in one that it turns."""

    def now(self) -> datetime:
        """Return the time, in UTC."""
        return datetime.now(UTC)

    def unix(self) -> float:
        """Return the time in Unix seconds."""
        return self.now().timestamp()

    def monotonic(self) -> float:
        """Return seconds since some moment; nothing sets this clock."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Let some seconds pass."""
        time.sleep(seconds)


SYSTEM_CLOCK = Clock()
"""The machine's clock, which parts read unless they are handed another."""
