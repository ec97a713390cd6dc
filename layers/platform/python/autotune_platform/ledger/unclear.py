"""Batches that do not go on by themselves.

It is unclear whether their job was created, or the provider refuses each look at it.
"""

from datetime import datetime, timedelta

from autotune_platform.ledger.models import Batch

WAITS_FOR_OPERATOR = "a batch waits for an operator"
"""What the log says at each look at such a batch; an alarm counts it."""

UNCLEAR_TOO_LONG = timedelta(hours=1)
"""After which a creation is not going to be clear by itself: jobs are in lists within minutes."""

REFUSED_TOO_LONG = timedelta(hours=6)
"""After which a person is to find out why looks at a job are refused: a provider's outages end by
themselves before that, and its results are there for days."""


def needs_operator(batch: Batch, now: datetime) -> bool:
    """Return whether a person is to see to a batch.

    Several jobs may be its own, or none could be found for long; or looks at its job have been
    refused for long.
    """
    if batch.job is None:
        return False
    if batch.phase == "polling":
        refused_since = batch.job.refused_since
        return refused_since is not None and refused_since + REFUSED_TOO_LONG <= now
    if batch.phase != "unknown":
        return False
    begun_at = batch.job.begun_at
    is_old = begun_at is not None and begun_at + UNCLEAR_TOO_LONG <= now
    return bool(batch.job.candidates) or is_old
