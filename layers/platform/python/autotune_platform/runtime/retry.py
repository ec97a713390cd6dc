"""How the platform tries again what is busy at this very moment."""

import random
from collections.abc import Iterator

from autotune.protocol.retry import RetryPolicy
from autotune_platform.runtime.clock import Clock

BUSY = RetryPolicy(first_seconds=0.05, longest_seconds=1)
"""For what others keep from being done at this very moment, such as a transaction."""


def busy_until(clock: Clock, seconds: float) -> Iterator[int]:
    """Count attempts from 0 until so many seconds are over; sleep before each but the first."""
    end, attempt = clock.monotonic() + seconds, 0
    while True:
        yield attempt
        attempt += 1
        pause = BUSY.pause(attempt)
        if clock.monotonic() + pause >= end:
            return
        clock.sleep(pause)


def jittered(seconds: float) -> float:
    """Return a time to wait that is not everybody's: within 15 percent of the one that is given."""
    return seconds * random.uniform(0.85, 1.15)  # noqa: S311 - it spreads load
