"""Parts that end runs that gave up."""

from functools import cached_property

from autotune_platform.runtime.environment import ContentEnvironment
from autotune_platform.scoring.failure import ChunkFailure
from autotune_platform.wiring.runs import RunParts
from autotune_platform.wiring.scoring import CallParts, ResolverParts


class FailureParts(RunParts, CallParts, ResolverParts):
    """What ends a run that gave up."""

    environment: ContentEnvironment

    @cached_property
    def chunk_failure(self) -> ChunkFailure:
        return ChunkFailure(
            completions=self.completions,
            verdicts=self.verdicts,
            resolver=self.resolver,
            waits=self.call_waits,
            recorder=self.run_recorder,
        )
