"""How the platform tries again what is busy at this very moment."""

from autotune.protocol.retry import RetryPolicy

BUSY = RetryPolicy(first_seconds=0.05, longest_seconds=1)
"""For what others keep from being done at this very moment, such as a transaction."""
