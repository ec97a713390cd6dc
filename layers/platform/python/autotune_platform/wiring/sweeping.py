"""Parts that find and mend what was lost."""

from functools import cached_property

from autotune_platform.runtime.environment.scoring import SweepEnvironment
from autotune_platform.scoring.sweeper import Sweeper
from autotune_platform.wiring.projections import ProjectionParts
from autotune_platform.wiring.recovery import RecoveryParts
from autotune_platform.wiring.scoring import CallParts


class SweepParts(RecoveryParts, CallParts, ProjectionParts):
    """What finds what was lost, and mends it."""

    environment: SweepEnvironment

    @cached_property
    def sweeper(self) -> Sweeper:
        return Sweeper(
            batches=self.open_batches,
            recovery=self.recovery,
            queues=self.chunk_queues,
            waits=self.call_waits,
            projection=self.projection,
        )
