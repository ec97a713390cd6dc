"""Parts that dispatch, record, show and end runs."""

from functools import cached_property

from autotune_platform.runs.recorder import RunRecorder
from autotune_platform.runs.repository import RunRepository
from autotune_platform.runs.service import RunService
from autotune_platform.runtime.environment import ContentEnvironment
from autotune_platform.scoring.explaining import Explanations
from autotune_platform.wiring.access import ApiParts
from autotune_platform.wiring.completions import CompletionParts
from autotune_platform.wiring.scoring import CallParts, ResolverParts


class RunParts(CompletionParts):
    """Runs as records."""

    @cached_property
    def run_repository(self) -> RunRepository:
        return RunRepository(self.completions_table)

    @cached_property
    def run_recorder(self) -> RunRecorder:
        return RunRecorder(repository=self.run_repository)


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
