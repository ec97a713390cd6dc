"""Batches that may still have pending completions, by when the sweeper is to look at them."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from aws_lambda_powertools import Logger

from autotune_platform.completions.models import FIRST_SWEEP_AFTER, Batch
from autotune_platform.completions.repository import CompletionRepository
from autotune_platform.completions.sleeps import Sleep, places_of
from autotune_platform.runtime.clients import REFUSALS, is_too_large
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part
from autotune_platform.storage.due_index import Soonest
from autotune_platform.storage.item_format import moment

logger = Logger()

OVERDUE_PER_SHARD = 10_000
"""Most overdue batches that one sweep knows of from each shard; 5,000 are a megabyte read."""

LOOKED_AT_PER_SHARD = 1_000
"""Most open batches of a shard that a look at one organisation reads."""

_ONE_RUN = {"one_run": True}


@part
class OpenBatches:
    """Finds overdue batches, and says when they are to be looked at again."""

    repository: CompletionRepository
    clock: Clock = SYSTEM_CLOCK

    def overdue(self, now: datetime, *, part: int = 0, parts: int = 1) -> dict[str, datetime]:
        """Return since when open batches are due, in order: of each organisation one in turn.

        Args:
            part: which of as many ``parts`` of them.
        """
        return self.repository.due.due(now, limit=OVERDUE_PER_SHARD, part=part, parts=parts)

    def open_of(self, organization_id: str) -> list[str]:
        """Return the open batches of an organisation, due or not."""
        return self.repository.due.of_owner(organization_id)

    def soonest_of(self, organization_id: str) -> Soonest:
        """Return when open batches of an organisation are due, in order.

        It reads at most ``LOOKED_AT_PER_SHARD`` entries of each shard, of all organisations.
        """
        return self.repository.due.soonest_of(organization_id, limit=LOOKED_AT_PER_SHARD)

    def find_many(self, batch_ids: Iterable[str]) -> dict[str, Batch]:
        """Return those batches that exist, of any organisation, by id."""
        return self.repository.get_batches(batch_ids)

    def find(self, batch_id: str) -> Batch | None:
        """Return a batch of any organisation."""
        return self.repository.get_batch(batch_id)

    def postpone(self, batch_id: str, until: datetime) -> None:
        """Have the sweeper look at an open batch then."""
        self.repository.due.move(batch_id, until)

    def let_sleep(self, served: Mapping[str, Sequence[str]], sleep: Sleep) -> None:
        """Have the sweeper leave alone what a run sleeps for, and for a while after.

        A batch of several runs stays due when it was: what another run lost must not wait for this
        one. Where a batch's item has no room for more, the sleep is not noted: the sweeper may have
        somebody else ask about the same, and the first verdict stands.

        Args:
            served: completions that the run has left, by batch.
        """
        due = self.repository.due
        for batch_id, completion_ids in served.items():
            of_batch = sleep.model_copy(update={"places": places_of(batch_id, completion_ids)})
            name, until = sleep.attribute, sleep.unswept_until
            changes = {name: of_batch.packed()}
            try:
                if not due.move(batch_id, until, changes=changes, only_if=_ONE_RUN, rising=name):
                    due.move(batch_id, None, changes=changes, rising=name)
            except REFUSALS as error:
                if not is_too_large(error):
                    raise
                logger.warning("sleep of a run not noted", batch_id=batch_id, run_id=sleep.run_id)

    def have_looked_at(self, batch_ids: Iterable[str]) -> None:
        """Have the sweeper look soon whether what is to follow has followed.

        What sleeps on purpose goes on sleeping. However often it is called, it puts no look off.
        """
        due_at = self.clock.now() + FIRST_SWEEP_AFTER
        for batch_id in batch_ids:
            self.repository.due.move(batch_id, due_at, only_earlier=True)

    def let_wait(self, batch_ids: Iterable[str], *, seconds: int) -> None:
        """Have the sweeper look a while after batches have waited for so long."""
        due_at = self.clock.now() + timedelta(seconds=seconds) + FIRST_SWEEP_AFTER
        for batch_id in batch_ids:
            self.postpone(batch_id, due_at)

    def claim(self, batch: Batch, *, due_at: datetime) -> bool:
        """Count a sweep of a batch; return False where another sweeper came first."""
        now = self.clock.now()
        redriven = {"sweeps": batch.sweeps + 1, "redriven_at": moment(now), "one_run": False}
        return self.repository.due.move(
            batch.id,
            due_at,
            changes=redriven,
            only_if={"sweeps": batch.sweeps},
            # Of runs that are gone: each redrive may add a hundred.
            remove=[sleep.attribute for sleep in batch.sleeps if sleep.unswept_until <= now],
        )

    def close(self, batch: Batch) -> None:
        """Look at a batch no more, unless some of it was scored again since it was read."""
        self.repository.due.close(batch.id, only_if={"generation": batch.generation or None})
