"""Stores the projection's checkpoints of batches."""

from collections.abc import Iterable, Sequence, Set

from autotune.protocol.completions import VerdictState
from autotune_platform.projections.models import Checkpoint, CheckpointKey
from autotune_platform.storage.counting import Addition
from autotune_platform.storage.table import Item, Table

_CHECKPOINT = "checkpoint"
_OPINIONS = "opinions"
_STATES: tuple[VerdictState, ...] = ("scored", "abstained", "failed", "canceled")


class CheckpointRepository:
    """Checkpoints in the ``completions`` table, each in the partition of its batch."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get_many(self, keys: Iterable[CheckpointKey]) -> dict[CheckpointKey, Checkpoint]:
        """Return each checkpoint, empty if none is stored, read consistently."""
        wanted = {key: (key.batch_id, _sort_key(key)) for key in keys}
        items = self._table.get_many(wanted.values())
        return {key: _checkpoint(key, items.get(stored)) for key, stored in wanted.items()}

    def advance(
        self, changes: Sequence[tuple[Checkpoint, Checkpoint]], additions: Sequence[Addition]
    ) -> bool:
        """Write checkpoints and the additions of their verdicts in one transaction.

        Args:
            changes: each checkpoint before and after.
            additions: what the verdicts add to counters and to the audit log.

        Returns:
            False if nothing was written, because a checkpoint changed or others wrote the same
            items.
        """
        written = [self._addition(before, after) for before, after in changes]
        return self._table.add_together([*written, *additions])

    def _addition(self, before: Checkpoint, after: Checkpoint) -> Addition:
        changes: dict[str, int | str] = {"version": after.version}
        if after.decided_at is not None:
            changes["decided_at"] = after.decided_at.isoformat()
        members: dict[str, Set[int]] = {
            state: indexes - before.decided.get(state, frozenset())
            for state, indexes in after.decided.items()
        }
        return Addition(
            table=self._table.name,
            pk=after.batch_id,
            sk=_sort_key(after.key),
            members={**members, _OPINIONS: after.opinions - before.opinions},
            changes=changes,
            only_if={"version": before.version or None},
        )


def _sort_key(key: CheckpointKey) -> str:
    return f"{_CHECKPOINT}#{key.generation}" if key.generation else _CHECKPOINT


def _checkpoint(key: CheckpointKey, item: Item | None) -> Checkpoint:
    if item is None:
        return Checkpoint(batch_id=key.batch_id, generation=key.generation)
    return Checkpoint(
        batch_id=key.batch_id,
        generation=key.generation,
        version=item["version"],
        decided={
            state: frozenset(int(index) for index in item[state])
            for state in _STATES
            if state in item
        },
        opinions=frozenset(int(index) for index in item.get(_OPINIONS, ())),
        decided_at=item.get("decided_at"),
    )
