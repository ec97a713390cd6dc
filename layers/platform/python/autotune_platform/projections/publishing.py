"""Publishes decisions: each verdict, and a batch with its last one."""

from collections.abc import Iterable, Iterator, Sequence

from autotune.protocol.completions import VerdictCounts
from autotune.protocol.events import BatchCompleted
from autotune.protocol.ids import derived_id
from autotune_platform.completions.models import Batch
from autotune_platform.completions.wire import verdict_on_wire
from autotune_platform.projections.batch_decisions import OrphanedVerdictError
from autotune_platform.projections.models import Checkpoint
from autotune_platform.runtime.parts import part
from autotune_platform.verdicts.decisions import Decision
from autotune_platform.verdicts.models import Verdict
from autotune_platform.verdicts.service import VerdictService
from autotune_platform.webhooks.models import Event
from autotune_platform.webhooks.publisher import EventPublisher

Completed = Sequence[tuple[Batch, Checkpoint]]


@part
class DecisionPublisher:
    """Publishes ``score.completed`` and ``batch.completed`` to those who listen.

    The id of an event is derived from what happened, so publishing it again publishes the same
    event. Opinions are not published: they are part of their panel's verdict.
    """

    verdicts: VerdictService
    publisher: EventPublisher

    def publish(self, decisions: Iterable[Decision], completed: Completed) -> None:
        """Publish decisions, and batches that are complete with them.

        Verdicts are read whole only where a webhook wants them.

        Args:
            completed: each with its checkpoint, which has all of its completions.

        Raises:
            UnavailableError: the queue refused a message; publish again.
            OrphanedVerdictError: a decision's verdict is not stored.
        """
        decided = [one for one in decisions if not one.is_opinion]
        audience = self.publisher.audience(
            [
                *(one.organization_id for one in decided),
                *(batch.organization_id for batch, _ in completed),
            ]
        )
        wanted = [one for one in decided if audience.wants(one.organization_id, "score.completed")]
        # Both together: one look at the webhooks, and one message that wakes for them.
        events = [score_completed(verdict) for verdict in self._whole(wanted)]
        events += [batch_completed(batch, checkpoint) for batch, checkpoint in completed]
        self.publisher.publish(events, to=audience)

    def _whole(self, decisions: list[Decision]) -> Iterator[Verdict]:
        listed = [one for one in decisions if one.verdict is None]
        found = self.verdicts.find_all(one.key for one in listed) if listed else {}
        for one in decisions:
            verdict = one.verdict or found.get(one.key)
            if verdict is None:
                raise OrphanedVerdictError(f"{one.completion_id} has no verdict")
            yield verdict


def score_completed(verdict: Verdict) -> Event:
    """Return the event ``score.completed`` of a decided completion, in any state.

    Its data is the verdict as ``GET /api/v1/completions/{id}/score`` shows it, without reasoning:
    that may quote the text, and an event is kept when the text is deleted.
    """
    shown = verdict_on_wire(verdict.model_copy(update={"reasoning": None}))
    return Event(
        id=score_event_id(verdict),
        type="score.completed",
        organization_id=verdict.organization_id,
        occurred_at=verdict.decided_at,
        data=shown.model_dump(mode="json", by_alias=True),
    )


def score_event_id(verdict: Verdict) -> str:
    """Return the id of the event that a verdict is published by."""
    return derived_id("evt", "score.completed", *verdict.key.parts)


def batch_completed(batch: Batch, checkpoint: Checkpoint) -> Event:
    """Return the event ``batch.completed`` of a batch whose completions are all decided.

    Args:
        checkpoint: the batch's latest checkpoint, which has all of its completions.
    """
    later = [str(checkpoint.generation)] if checkpoint.generation else []
    assert checkpoint.decided_at is not None
    counts = VerdictCounts(
        expected=batch.size,
        scored=checkpoint.count("scored"),
        abstained=checkpoint.count("abstained"),
        failed=checkpoint.count("failed"),
        canceled=checkpoint.count("canceled"),
        pending=batch.size - checkpoint.size,
    )
    data = BatchCompleted(
        batch_id=batch.id,
        generation=checkpoint.generation,
        counts=counts,
        created_at=batch.created_at,
    )
    return Event(
        id=derived_id("evt", "batch.completed", batch.id, *later),
        type="batch.completed",
        organization_id=batch.organization_id,
        occurred_at=checkpoint.decided_at,
        data=data.model_dump(mode="json", by_alias=True),
    )
