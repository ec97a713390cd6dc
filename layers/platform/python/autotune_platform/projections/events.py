"""What organisations are told of verdicts and batches."""

from autotune.protocol.completions import VerdictCounts
from autotune.protocol.events import BatchCompleted
from autotune.protocol.ids import derived_id
from autotune_platform.completions.models import Batch
from autotune_platform.completions.wire import verdict_on_wire
from autotune_platform.projections.models import Tally
from autotune_platform.verdicts.models import Verdict
from autotune_platform.webhooks.models import Event


def score_completed(verdict: Verdict) -> Event:
    """Return the event that a completion is decided, in whatever state.

    Its data is the verdict as ``GET /api/v1/completions/{id}/score`` shows it.
    """
    return Event(
        id=derived_id(
            "evt",
            "score.completed",
            verdict.completion_id,
            verdict.grader_id,
            verdict.grader_version,
        ),
        type="score.completed",
        organization_id=verdict.organization_id,
        occurred_at=verdict.decided_at,
        data=verdict_on_wire(verdict).model_dump(mode="json", by_alias=True),
    )


def batch_completed(batch: Batch, tally: Tally) -> Event:
    """Return the event that every completion of a batch is decided.

    Args:
        tally: holds all of them.
    """
    assert tally.decided_at is not None
    counts = VerdictCounts(
        expected=batch.size,
        scored=tally.count("scored"),
        abstained=tally.count("abstained"),
        failed=tally.count("failed"),
        canceled=tally.count("canceled"),
        pending=batch.size - tally.size,
    )
    data = BatchCompleted(batch_id=batch.id, counts=counts, created_at=batch.created_at)
    return Event(
        id=derived_id("evt", "batch.completed", batch.id),
        type="batch.completed",
        organization_id=batch.organization_id,
        occurred_at=tally.decided_at,
        data=data.model_dump(mode="json", by_alias=True),
    )
