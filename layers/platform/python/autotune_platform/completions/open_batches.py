"""Batches that may still have pending completions, by when the sweeper is to look at them."""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from autotune_platform.completions.models import FIRST_SWEEP_AFTER, Batch
from autotune_platform.completions.repository import CompletionRepository
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part
from autotune_platform.storage.item_format import moment


@part
class OpenBatches:
    """Finds overdue batches, and says when they are to be looked at again."""

    repository: CompletionRepository
    clock: Clock = SYSTEM_CLOCK

    def overdue(self, now: datetime, *, limit: int) -> Iterator[Batch]:
        """Yield open batches that should be decided by now.

        Args:
            limit: most batches from each shard.
        """
        for batch_id in self.repository.due.due(now, limit=limit):
            batch = self.repository.get_batch(batch_id)
            if batch is not None:
                yield batch

    def postpone(self, batch_id: str, until: datetime) -> None:
        """Have the sweeper look at an open batch then."""
        self.repository.due.move(batch_id, until)

    def let_sleep(self, batch_ids: Iterable[str], *, seconds: int) -> None:
        """Have the sweeper leave batches alone while a run sleeps, and for a while after.

        Of several runs the one that sleeps longest counts.
        """
        until = self.clock.now() + timedelta(seconds=seconds) + FIRST_SWEEP_AFTER
        for batch_id in batch_ids:
            asleep = {"asleep_until": moment(until)}
            self.repository.due.move(batch_id, until, changes=asleep, rising="asleep_until")

    def have_looked_at(self, batch_ids: Iterable[str], *, in_seconds: int = 0) -> None:
        """Have the sweeper look a while after some seconds whether what was to follow has followed.

        What sleeps on purpose goes on sleeping.
        """
        due_at = self.clock.now() + timedelta(seconds=in_seconds) + FIRST_SWEEP_AFTER
        for batch_id in batch_ids:
            self.postpone(batch_id, due_at)

    def claim(self, batch: Batch, *, due_at: datetime) -> bool:
        """Count a sweep of a batch; return False where another sweeper came first."""
        return self.repository.due.move(
            batch.id, due_at, changes={"sweeps": batch.sweeps + 1}, only_if={"sweeps": batch.sweeps}
        )

    def close(self, batch: Batch) -> None:
        """Look at a batch no more."""
        self.repository.due.close(batch.id)
