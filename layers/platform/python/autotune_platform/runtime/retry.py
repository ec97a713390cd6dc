"""How the platform tries again what is busy at this very moment."""

import random

from autotune.protocol.retry import RetryPolicy

BUSY = RetryPolicy(first_seconds=0.05, longest_seconds=1)
"""For what others keep from being done at this very moment, such as a transaction."""


def jittered(seconds: float) -> float:
    """Return a time to wait that is not everybody's: within 15 percent of the one that is given."""
    return seconds * random.uniform(0.85, 1.15)  # noqa: S311 - it spreads load
