"""Pauses between attempts: full jitter below a ceiling that doubles.

Source: M. Brooker, "Timeouts, retries, and backoff with jitter", Amazon Builders' Library.
"""

import math
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class RetryPolicy:
    """How long to pause between attempts.

    Attributes:
        first_seconds: the longest pause after the first attempt.
        longest_seconds: no pause is longer.
    """

    first_seconds: float
    longest_seconds: float

    def ceiling(self, failures: int) -> float:
        """Return the longest pause after so many failures, from 1, in seconds."""
        # The exponent is bounded first: what is down for weeks has failed thousands of times.
        return min(self.longest_seconds, math.ldexp(self.first_seconds, min(failures - 1, 64)))

    def pause(self, failures: int) -> float:
        """Return a random pause after so many failures, from 1, in seconds."""
        return random.uniform(0, self.ceiling(failures))  # noqa: S311 - jitter

    def attempts(self, most: int) -> Iterator[int]:
        """Count attempts from 0; sleep before each but the first."""
        for attempt in range(most):
            if attempt:
                time.sleep(self.pause(attempt))
            yield attempt
