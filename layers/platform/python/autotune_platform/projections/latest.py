"""A batch as its latest generations have it, from the checkpoints of all of them."""

from collections.abc import Iterable, Mapping

from autotune_platform.completions.models import Batch
from autotune_platform.projections.models import Checkpoint, CheckpointKey


def keys_of(batch: Batch) -> Iterable[CheckpointKey]:
    """Return what finds the checkpoints of a batch: one, unless some of it was scored again."""
    return (CheckpointKey(batch.id, number) for number in range(batch.generation + 1))


def latest_of(batch: Batch, checkpoints: Mapping[CheckpointKey, Checkpoint]) -> Checkpoint:
    """Return a checkpoint that has each completion as its latest generation has it.

    Nobody stores it; that of a batch of which nothing was scored again is its only one.

    Args:
        checkpoints: at least those of the batch.
    """
    first = checkpoints[CheckpointKey(batch.id)]
    if not batch.generation:
        return first
    own = [checkpoints[key] for key in keys_of(batch)]
    decided: dict[str, frozenset[int]] = {}
    for one in own:
        for state, places in one.decided.items():
            latest = {at for at in places if batch.generation_of(at) == one.generation}
            decided[state] = decided.get(state, frozenset()) | latest
    moments = [one.decided_at for one in own if one.decided_at is not None]
    return Checkpoint.model_validate(
        {
            "batch_id": batch.id,
            "generation": batch.generation,
            "decided": decided,
            "decided_at": max(moments, default=None),
        }
    )


def is_counted_whole(batch: Batch, checkpoints: Mapping[CheckpointKey, Checkpoint]) -> bool:
    """Return whether every verdict of every generation is counted."""
    sizes = [batch.size, *(int(one.places, 16).bit_count() for one in batch.generations)]
    return all(
        checkpoints[key].size == size for key, size in zip(keys_of(batch), sizes, strict=True)
    )
