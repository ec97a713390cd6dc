"""Parts that end runs that gave up."""

from functools import cached_property

from autotune_platform.runtime.environment.completions import ContentEnvironment
from autotune_platform.scoring.failure import RunFailure
from autotune_platform.wiring.runs import RunParts


class FailureParts(RunParts):
    """What ends a run that gave up."""

    environment: ContentEnvironment

    @cached_property
    def run_failure(self) -> RunFailure:
        return RunFailure(
            batches=self.open_batches,
            completions=self.completions,
            recorder=self.run_recorder,
        )
