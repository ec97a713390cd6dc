"""Parts that write verdicts."""

from functools import cached_property

from autotune_platform.runtime.environment.completions import ContentEnvironment
from autotune_platform.scoring.writing import VerdictWriter
from autotune_platform.wiring.graders import StatisticsParts
from autotune_platform.wiring.runs import RunParts


class WriterParts(RunParts, StatisticsParts):
    """What writes verdicts."""

    environment: ContentEnvironment

    @cached_property
    def writer(self) -> VerdictWriter:
        return VerdictWriter(
            completions=self.completions,
            verdicts=self.verdicts,
            statistics=self.statistics,
            recorder=self.run_recorder,
        )
