"""The events that are published for verdicts and batches."""

from autotune.protocol.completions import VerdictCounts
from autotune.protocol.events import BatchCompleted
from autotune.protocol.ids import derived_id
from autotune_platform.completions.models import Batch
from autotune_platform.completions.wire import verdict_on_wire
from autotune_platform.projections.models import Checkpoint
from autotune_platform.verdicts.models import Verdict
from autotune_platform.webhooks.models import Event


def score_completed(verdict: Verdict) -> Event:
    """Return the event ``score.completed`` of a decided completion, in any state.

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


def batch_completed(batch: Batch, checkpoint: Checkpoint) -> Event:
    """Return the event ``batch.completed`` of a batch whose completions are all decided.

    Args:
        checkpoint: the batch's checkpoint, which has all of its completions.
    """
    assert checkpoint.decided_at is not None
    counts = VerdictCounts(
        expected=batch.size,
        scored=checkpoint.count("scored"),
        abstained=checkpoint.count("abstained"),
        failed=checkpoint.count("failed"),
        canceled=checkpoint.count("canceled"),
        pending=batch.size - checkpoint.size,
    )
    data = BatchCompleted(batch_id=batch.id, counts=counts, created_at=batch.created_at)
    return Event(
        id=derived_id("evt", "batch.completed", batch.id),
        type="batch.completed",
        organization_id=batch.organization_id,
        occurred_at=checkpoint.decided_at,
        data=data.model_dump(mode="json", by_alias=True),
    )
