"""A clock that a test turns."""

from datetime import UTC, datetime, timedelta

from autotune.protocol.retry import RetryPolicy
from autotune_platform.runtime.clock import Clock

AT_ONCE = RetryPolicy(first_seconds=0, longest_seconds=0)
"""Pauses of no length, in place of those of clients."""


class TurnedClock(Clock):
    """The machine's clock, turned ahead.

    Attributes:
        ahead: how far.
        slept: seconds that something slept on it; they pass at once.
    """

    def __init__(self, ahead: timedelta = timedelta()) -> None:
        self.ahead = ahead
        self.slept: list[float] = []

    def now(self) -> datetime:
        return super().now() + self.ahead

    def monotonic(self) -> float:
        return super().monotonic() + self.ahead.total_seconds()

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.ahead += timedelta(seconds=seconds)

    def turn(self, **by: float) -> None:
        """Turn it ahead by so much more, in the words of ``timedelta``."""
        self.ahead += timedelta(**by)


class StandingClock(TurnedClock):
    """A clock whose time passes only when a test turns it, however busy the machine is."""

    def __init__(self, ahead: timedelta = timedelta()) -> None:
        super().__init__(ahead)
        self._started = datetime.now(UTC)

    def now(self) -> datetime:
        return self._started + self.ahead
