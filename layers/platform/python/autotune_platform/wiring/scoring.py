"""Parts of which grading, callbacks and recovery are made."""

from functools import cached_property

from autotune_platform.judging.http.callbacks import Callbacks
from autotune_platform.judging.http.repository import CallRepository
from autotune_platform.judging.http.waiting import CallWaits
from autotune_platform.runtime.environment.completions import ContentEnvironment
from autotune_platform.scoring.resolving import PanelResolver
from autotune_platform.wiring.completions import ReviewRecordParts, VerdictParts
from autotune_platform.wiring.graders import GraderParts


class CallParts(VerdictParts, GraderParts):
    """Calls that graders answer later."""

    environment: ContentEnvironment

    @cached_property
    def calls(self) -> CallRepository:
        return CallRepository(self.completions_table)

    @cached_property
    def callbacks(self) -> Callbacks:
        return Callbacks(calls=self.calls, graders=self.graders)

    @cached_property
    def call_waits(self) -> CallWaits:
        return CallWaits(repository=self.calls, verdicts=self.verdicts)


class ResolverParts(ReviewRecordParts):
    """What resolves panels."""

    @cached_property
    def resolver(self) -> PanelResolver:
        return PanelResolver(
            verdicts=self.verdicts, panels=self.panels, reviews=self.review_records
        )
