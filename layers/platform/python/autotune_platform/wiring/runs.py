"""Parts that record runs."""

from functools import cached_property

from autotune_platform.runs.recorder import RunRecorder
from autotune_platform.runs.repository import RunRepository
from autotune_platform.wiring.completions import CompletionParts


class RunParts(CompletionParts):
    """Runs as records."""

    @cached_property
    def run_repository(self) -> RunRepository:
        return RunRepository(self.completions_table)

    @cached_property
    def run_recorder(self) -> RunRecorder:
        return RunRecorder(repository=self.run_repository)
