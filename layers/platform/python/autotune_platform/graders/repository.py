"""Where graders and their health are stored.

The health of verified graders lies apart from them, ``health#<shard>`` with the grader's id: a
probe does not touch the grader that its owner may be changing, and no index is needed to find all.
"""

import zlib
from collections.abc import Iterator, Sequence

from autotune_platform.gateway.models import Grader
from autotune_platform.graders.health import Health
from autotune_platform.storage.registry import (
    RECORD,
    EntityRepository,
    entity_attributes,
    entity_from,
    unchanged,
)
from autotune_platform.storage.table import Item
from autotune_platform.storage.transactions import ANYTHING, PRESENT, Condition, Delete, Put, Write
from autotune_platform.webhooks.models import Event
from autotune_platform.webhooks.outbox import outbox_item

HEALTH_SHARDS = 4
"""In how many partitions the health of all graders lies; each is probed by a run of its own."""


class GraderRepository(EntityRepository[Grader]):
    """Graders in the ``registry`` table; the directory reads one alone, by its id."""

    model = Grader
    kind = "grd"
    listed_as = "grader"
    named = "grader"
    is_counted = True

    def change_status(
        self,
        before: Grader,
        after: Grader,
        *,
        events: Sequence[Event],
        health: Health | None,
        health_before: Health | None = None,
    ) -> bool:
        """Store a grader, its health and events together, or nothing of it.

        Args:
            health: None where the grader is not to be probed any more.
            health_before: what ``health`` follows from; without it, probing starts anew.

        Returns:
            False where the grader or ``health_before`` changed or went in the meantime.
        """
        as_read = Condition(exists=True, only_if=unchanged(before))
        writes: list[Write] = [Put(item=self._item(after), condition=as_read)]
        if health is None:
            writes.append(Delete(pk=health_partition(before.id), sk=before.id))
        else:
            condition = ANYTHING
            if health_before is not None:
                condition = Condition(exists=True, only_if=unchanged(health_before))
            writes.append(Put(item=_health_item(health), condition=condition))
        writes += [Put(item=outbox_item(event, pk=after.id)) for event in events]
        return not self._table.transact(writes)

    def replace_with(self, before: Grader, after: Grader, *, events: Sequence[Event]) -> bool:
        """Store a changed grader and events together; return False where it changed meanwhile."""
        as_read = Condition(exists=True, only_if=unchanged(before))
        writes: list[Write] = [Put(item=self._item(after), condition=as_read)]
        writes += [Put(item=outbox_item(event, pk=after.id)) for event in events]
        return not self._table.transact(writes)

    def delete(self, grader: Grader) -> bool:
        """Delete a grader and its health; its verdicts stay. Return False where it was gone."""
        return not self._table.transact(
            [
                Delete(pk=grader.id, sk=RECORD, condition=PRESENT),
                Delete(pk=health_partition(grader.id), sk=grader.id),
                self.one_less(grader.organization_id),
            ]
        )

    def health(self, grader_id: str) -> Health | None:
        """Return the health of a grader, None where it is not probed."""
        item = self._table.get(health_partition(grader_id), grader_id)
        return entity_from(item, Health) if item else None

    def health_in(self, shard: int) -> Iterator[Health]:
        """Yield the health of every grader in one of ``HEALTH_SHARDS``."""
        items = self._table.items(_shard_partition(shard))
        return (entity_from(item, Health) for item in items)

    def replace_health(self, before: Health, after: Health) -> bool:
        """Store a changed health; return False where it changed or went in the meantime."""
        return self._table.replace(
            health_partition(before.grader_id),
            before.grader_id,
            _health_item(after),
            only_if=unchanged(before),
        )


def _health_item(health: Health) -> Item:
    key = {"pk": health_partition(health.grader_id), "sk": health.grader_id}
    return {**key, **entity_attributes(health)}


def health_partition(grader_id: str) -> str:
    """Return the partition in which the health of a grader lies."""
    return _shard_partition(zlib.crc32(grader_id.encode()) % HEALTH_SHARDS)


def _shard_partition(shard: int) -> str:
    return f"health#{shard}"
