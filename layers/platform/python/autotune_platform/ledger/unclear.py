"""Batches that do not go on by themselves.

It is unclear whether their job was created, or the provider refuses each look at it.
"""

from datetime import datetime, timedelta

from autotune.protocol.ids import derived_id
from autotune.protocol.llm_events import LedgerBatchNeedsOperator
from autotune_platform.ledger.models import Batch
from autotune_platform.webhooks.models import Event

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


def operator_needed(batch: Batch, now: datetime) -> Event:
    """Return the event ``ledger.batch.needs_operator``: the same one at each look at the trouble.

    Args:
        batch: one that needs an operator.
    """
    state = batch.job
    assert state is not None
    is_unknown = batch.phase == "unknown"
    since = state.begun_at if is_unknown else state.refused_since
    data = LedgerBatchNeedsOperator(
        batch_id=batch.id,
        connection_id=batch.connection_id,
        provider=batch.provider,
        model=batch.model,
        stage="unknown" if is_unknown else "polling",
        job_id=state.job_id,
        candidates=list(state.candidates),
        created_at=batch.created_at,
    )
    return Event(
        id=derived_id("evt", "ledger.batch.needs_operator", batch.id, batch.phase, str(since)),
        type="ledger.batch.needs_operator",
        organization_id=batch.organization_id,
        occurred_at=now,
        data=data.model_dump(mode="json", by_alias=True),
    )
