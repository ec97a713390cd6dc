"""Batches whose creation at the provider stays unclear until somebody says what became of it."""

from datetime import datetime, timedelta

from autotune_platform.ledger.models import Batch

WAITS_FOR_OPERATOR = "a batch waits for an operator"
"""What the log says at each look at such a batch; an alarm counts it."""

UNCLEAR_TOO_LONG = timedelta(hours=1)
"""After which a creation is not going to be clear by itself: jobs are in lists within minutes."""


def needs_operator(batch: Batch, now: datetime) -> bool:
    """Return whether several jobs may be a batch's, or none could be found for long."""
    if batch.phase != "unknown" or batch.job is None:
        return False
    begun_at = batch.job.begun_at
    is_old = begun_at is not None and begun_at + UNCLEAR_TOO_LONG <= now
    return bool(batch.job.candidates) or is_old
