"""Admitting a batch: its job is counted where its connection's limits have room, or it waits."""

from datetime import datetime, timedelta

from autotune.protocol.llm_limits import JobLimitName
from autotune_platform.ledger.batch_repository import BatchRepository
from autotune_platform.ledger.job_limits import Limits
from autotune_platform.ledger.live_jobs import LiveJobs
from autotune_platform.ledger.models import Batch
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.retry import BUSY, jittered

LONGEST_ROOM_WAIT = timedelta(minutes=5)
"""After which a batch looks again at the latest whether there is room for it."""

_SHORTEST_ROOM_WAIT = timedelta(minutes=1)
_ATTEMPTS = 8


@part
class JobAdmission:
    """Counts jobs before they are made."""

    batches: BatchRepository
    live: LiveJobs

    def admit(self, batch: Batch, limits: Limits) -> JobLimitName | None:
        """Count a batch's job, once.

        Returns:
            The limit that has no room for it; None where it is counted, or another has the batch.

        Raises:
            UnavailableError: others kept counting jobs of the same connection.
        """
        for _ in BUSY.attempts(_ATTEMPTS):
            short = self.live.short_of(batch, limits)
            if short is not None:
                return short
            if self.batches.try_write(
                [self.batches.counted(batch), *self.live.more(batch, limits)]
            ):
                return None
            stored = self.batches.get(batch.id)
            if stored is None or _place(stored) != _place(batch):
                return None
        raise UnavailableError("the table is busy", retry_after_seconds=1)


def room_wait(batch: Batch, now: datetime) -> float:
    """Return after how many seconds a batch that waits for room looks again."""
    tenth = (now - batch.created_at) / 10
    wait = min(max(tenth, _SHORTEST_ROOM_WAIT), LONGEST_ROOM_WAIT)
    return jittered(wait.total_seconds())


def _place(batch: Batch) -> tuple[object, ...]:
    return batch.phase, batch.redrive, batch.counted_tokens
