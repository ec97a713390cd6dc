"""Showing operators what is pending longer than it should be."""

from pydantic import ConfigDict
from pydantic.alias_generators import to_camel

from autotune_platform.completions.open_batches import OpenBatches
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.runtime.parts import part
from autotune_platform.scoring.recovery import BatchRecovery

MOST_SHOWN = 400
"""Most overdue batches that are looked at, of each organisation one in turn."""


class StuckBatch(FrozenModel):
    """An overdue batch: ids and counts, never text."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)

    batch_id: str
    organization_id: str
    pending: int
    age_seconds: int
    sweeps: int


@part
class StuckWork:
    """Finds overdue batches without touching them."""

    batches: OpenBatches
    recovery: BatchRecovery
    clock: Clock = SYSTEM_CLOCK

    def find(self) -> list[StuckBatch]:
        """Return overdue batches that have pending completions."""
        now = self.clock.now()
        return [
            StuckBatch(
                batch_id=batch.id,
                organization_id=batch.organization_id,
                pending=len(pending),
                age_seconds=round((now - batch.created_at).total_seconds()),
                sweeps=batch.sweeps,
            )
            for batch_id in list(self.batches.overdue(now))[:MOST_SHOWN]
            if (batch := self.batches.find(batch_id)) and (pending := self.recovery.pending(batch))
        ]
