"""Trying again what others keep from being done at this very moment."""

import random
import time
from collections.abc import Iterator

_LONGEST_PAUSE_SECONDS = 1.0


def attempts(most: int, *, first_pause_seconds: float = 0.05) -> Iterator[int]:
    """Count attempts from 0, sleeping before each but the first.

    Sleeps with full jitter below a ceiling that doubles from ``first_pause_seconds`` to a second
    (https://aws.amazon.com/builders-library/timeouts-retries-and-backoff-with-jitter/).
    """
    for attempt in range(most):
        if attempt:
            ceiling = min(_LONGEST_PAUSE_SECONDS, first_pause_seconds * 2 ** (attempt - 1))
            time.sleep(random.uniform(0, ceiling))  # noqa: S311 - jitter
        yield attempt
