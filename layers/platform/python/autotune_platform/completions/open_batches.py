"""Batches that may still have pending completions, by when the sweeper is to look at them."""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from autotune.protocol.completions import ReasonCode
from autotune_platform.completions.models import FIRST_SWEEP_AFTER, Batch, Sleep
from autotune_platform.completions.repository import ASLEEP, CompletionRepository
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part
from autotune_platform.storage.item_format import moment
from autotune_platform.verdicts.models import GradedBy

_ONE_RUN = {"one_run": True}


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

    def let_sleep(
        self,
        batch_ids: Iterable[str],
        asked: GradedBy,
        *,
        seconds: int,
        attempts: int,
        reason_code: ReasonCode | None,
    ) -> None:
        """Have the sweeper leave alone what a grader's run sleeps for, and for a while after.

        Of several runs of one grader the one that sleeps longest counts. A batch of several runs
        stays due when it was: what another run lost must not wait for this one.

        Args:
            attempts: passes of the run that are over.
            reason_code: why a completion failed that is to be tried again, if one did.
        """
        awake_at = self.clock.now() + timedelta(seconds=seconds)
        sleep = Sleep(
            unswept_until=awake_at + FIRST_SWEEP_AFTER,
            awake_at=awake_at,
            attempts=attempts,
            reason_code=reason_code,
            panel_id=asked.panel_id,
        )
        name = f"{ASLEEP}{asked.grader_id}"
        changes = {name: sleep.packed()}
        due = self.repository.due
        for batch_id in batch_ids:
            until = sleep.unswept_until
            if not due.move(batch_id, until, changes=changes, only_if=_ONE_RUN, rising=name):
                due.move(batch_id, None, changes=changes, rising=name)

    def have_looked_at(self, batch_ids: Iterable[str], *, in_seconds: int = 0) -> None:
        """Have the sweeper look a while after some seconds whether what was to follow has followed.

        What sleeps on purpose goes on sleeping.
        """
        due_at = self.clock.now() + timedelta(seconds=in_seconds) + FIRST_SWEEP_AFTER
        for batch_id in batch_ids:
            self.postpone(batch_id, due_at)

    def claim(self, batch: Batch, *, due_at: datetime) -> bool:
        """Count a sweep of a batch; return False where another sweeper came first."""
        now = moment(self.clock.now())
        redriven = {"sweeps": batch.sweeps + 1, "redriven_at": now, "one_run": False}
        return self.repository.due.move(
            batch.id, due_at, changes=redriven, only_if={"sweeps": batch.sweeps}
        )

    def close(self, batch: Batch) -> None:
        """Look at a batch no more."""
        self.repository.due.close(batch.id)
