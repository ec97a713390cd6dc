"""A clock that a test turns."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from autotune.protocol.retry import RetryPolicy
from autotune_platform.runtime.clock import Clock
from autotune_platform.windows.grains import FIVE_MINUTES
from functions.scoring import grade_chunk

AT_ONCE = RetryPolicy(first_seconds=0, longest_seconds=0)
"""Pauses of no length, in place of those of clients."""


_LONGEST_TO_DECIDE = 20.0


def wait_for_one_window() -> None:
    """Wait, where windows of time are about to end, until the next ones have begun.

    What is decided in two windows costs more than what is decided in one. Longer windows end with
    the shortest; a test decides what it counts within some seconds, also on a busy machine.
    """
    left = FIVE_MINUTES.seconds - time.time() % FIVE_MINUTES.seconds
    if left < _LONGEST_TO_DECIDE:
        time.sleep(left)


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
        self._started = Clock.now(self)

    def now(self) -> datetime:
        return self._started + self.ahead


class PassingTime:
    """The clocks of what grades, which sleeps turn ahead together."""

    def __init__(self, parts: Any) -> None:
        self._sleepers = (parts.grading, parts.permits, parts.writer)
        self._before = [sleeper.clock for sleeper in self._sleepers]
        self._clocks = [
            clock if isinstance(clock, TurnedClock) else TurnedClock() for clock in self._before
        ]
        self.slept = 0.0
        for sleeper, clock in zip(self._sleepers, self._clocks, strict=True):
            sleeper.clock = clock

    def reach(self, seconds: float) -> None:
        """Turn them to so many seconds after the beginning, unless they are there already."""
        ahead, self.slept = max(0.0, seconds - self.slept), max(self.slept, seconds)
        for clock in {id(clock): clock for clock in self._clocks}.values():
            clock.turn(seconds=ahead)

    def restore(self) -> None:
        """Go back to the clocks that were there before."""
        for sleeper, clock in zip(self._sleepers, self._before, strict=True):
            sleeper.clock = clock


@contextmanager
def passing_time() -> Iterator[PassingTime]:
    """Have the time of grading pass as it sleeps."""
    time = PassingTime(grade_chunk.parts())
    try:
        yield time
    finally:
        time.restore()
