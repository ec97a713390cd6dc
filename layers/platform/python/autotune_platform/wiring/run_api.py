"""Parts that show, explain and cancel runs."""

from functools import cached_property

from autotune_platform.runs.service import RunService
from autotune_platform.runtime.environment import ContentEnvironment
from autotune_platform.scoring.explaining import Explanations
from autotune_platform.wiring.access import ApiParts
from autotune_platform.wiring.runs import RunParts
from autotune_platform.wiring.scoring import CallParts, ResolverParts


class RunApiParts(ApiParts, RunParts, CallParts, ResolverParts):
    """What shows, explains and cancels runs."""

    environment: ContentEnvironment

    @cached_property
    def runs(self) -> RunService:
        return RunService(
            repository=self.run_repository, completions=self.completions, verdicts=self.verdicts
        )

    @cached_property
    def explanations(self) -> Explanations:
        return Explanations(
            completions=self.completions,
            verdicts=self.verdicts,
            panels=self.panels,
            calls=self.call_waits,
            reviews=self.review_records,
        )
