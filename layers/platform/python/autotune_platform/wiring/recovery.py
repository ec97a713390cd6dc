"""Parts that find lost work."""

from functools import cached_property

from autotune_platform.operations.stuck import StuckWork
from autotune_platform.runtime.environment.completions import SubmissionEnvironment
from autotune_platform.scoring.recovery import BatchRecovery
from autotune_platform.wiring.scoring import ResolverParts
from autotune_platform.wiring.submission import SubmissionParts


class RecoveryParts(SubmissionParts, ResolverParts):
    """What finds lost work."""

    environment: SubmissionEnvironment

    @cached_property
    def recovery(self) -> BatchRecovery:
        return BatchRecovery(
            batches=self.open_batches,
            completions=self.completions,
            queues=self.chunk_queues,
            verdicts=self.verdicts,
            panels=self.panels,
            resolver=self.resolver,
            propagation=self.propagation,
        )

    @cached_property
    def stuck_work(self) -> StuckWork:
        return StuckWork(batches=self.open_batches, recovery=self.recovery)
