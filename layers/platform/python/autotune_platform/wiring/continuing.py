"""Parts that go on with runs in other executions."""

from functools import cached_property

from autotune_platform.runtime import clients
from autotune_platform.scoring.continuing import RunContinuation


class ContinuationParts:
    """What starts the next execution of a run."""

    @cached_property
    def continuation(self) -> RunContinuation:
        return RunContinuation(stepfunctions=clients.stepfunctions())
