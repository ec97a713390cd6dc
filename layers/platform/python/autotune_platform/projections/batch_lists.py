"""Lists of batches with how far each has come, from what the projection has counted."""

from collections.abc import Mapping
from dataclasses import dataclass

from autotune.protocol import batches as wire
from autotune.protocol.batches import BatchState
from autotune.protocol.completions import VerdictCounts, VerdictState
from autotune_platform.access.models import Caller
from autotune_platform.completions.batch_walk import BatchWalk
from autotune_platform.completions.models import Batch
from autotune_platform.projections.checkpoints import CheckpointRepository
from autotune_platform.projections.models import Checkpoint, CheckpointKey
from autotune_platform.runtime.parts import part

_MOST_TASKS = 20
_STATES: tuple[VerdictState, ...] = ("scored", "abstained", "failed", "canceled")


@dataclass(frozen=True)
class CountedBatch:
    """A batch, and how many of its completions are counted by state of their latest verdict."""

    batch: Batch
    counts: VerdictCounts


@part
class BatchLists:
    """Lists the caller's batches with counts, reading no verdict."""

    walk: BatchWalk
    checkpoints: CheckpointRepository

    def page(
        self,
        caller: Caller,
        *,
        state: BatchState | None,
        task_id: str | None,
        limit: int,
        next_token: str | None,
    ) -> tuple[list[CountedBatch], str | None]:
        """Return a page of batches, the youngest first.

        Raises:
            InvalidRequestError: ``next_token`` is not from this list.
        """
        batches, token = self.walk.page(
            caller.organization_id,
            state=state,
            task_id=task_id,
            limit=limit,
            next_token=next_token,
        )
        checkpoints = self.checkpoints.get_many(
            CheckpointKey(batch.id, generation)
            for batch in batches
            for generation in range(batch.generation + 1)
        )
        return [CountedBatch(batch, _counts(batch, checkpoints)) for batch in batches], token


def batch_summary(counted: CountedBatch) -> wire.BatchSummary:
    """Return a batch as a list shows it."""
    batch = counted.batch
    tasks = list(dict.fromkeys(segment.task_id for segment in batch.segments))
    return wire.BatchSummary(
        id=batch.id,
        state="open" if batch.is_open else "closed",
        priority=batch.priority,
        generation=batch.generation,
        created_at=batch.created_at,
        redrives=batch.sweeps,
        counts=counted.counts,
        task_ids=tasks[:_MOST_TASKS],
        tasks=len(tasks),
    )


def _counts(batch: Batch, checkpoints: Mapping[CheckpointKey, Checkpoint]) -> VerdictCounts:
    """Return how many completions are counted in the latest generation of each."""
    of_batch = {
        generation: checkpoints[CheckpointKey(batch.id, generation)]
        for generation in range(batch.generation + 1)
    }
    if not batch.generation:
        counts = {state: of_batch[0].count(state) for state in _STATES}
    else:
        counts = {
            state: sum(
                batch.generation_of(index) == generation
                for generation, checkpoint in of_batch.items()
                for index in checkpoint.decided.get(state, ())
            )
            for state in _STATES
        }
    return VerdictCounts(expected=batch.size, pending=batch.size - sum(counts.values()), **counts)
