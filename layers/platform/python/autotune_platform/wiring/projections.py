"""Parts that follow verdicts."""

from functools import cached_property

from autotune_platform.graders.answered_versions import AnsweredVersions
from autotune_platform.projections.checkpoints import CheckpointRepository
from autotune_platform.projections.closing import BatchClosing
from autotune_platform.projections.counting import DecisionCounting
from autotune_platform.projections.decisions import DecisionAudit
from autotune_platform.projections.projection import VerdictProjection
from autotune_platform.projections.publishing import DecisionPublisher
from autotune_platform.projections.versions import VersionWitness
from autotune_platform.projections.windows import DecisionWindows
from autotune_platform.runtime.environment.projections import ProjectionEnvironment
from autotune_platform.storage.changes import Route, Router
from autotune_platform.verdicts.decisions import NEW_DECISIONS
from autotune_platform.windows.counters import WindowCounters
from autotune_platform.wiring.access import AuditParts
from autotune_platform.wiring.completions import CompletionParts
from autotune_platform.wiring.graders import StatisticsParts
from autotune_platform.wiring.publishing import PublisherParts


class ProjectionParts(CompletionParts, StatisticsParts, PublisherParts, AuditParts):
    """What follows verdicts."""

    environment: ProjectionEnvironment

    @cached_property
    def projection(self) -> VerdictProjection:
        checkpoints = CheckpointRepository(self.completions_table)
        return VerdictProjection(
            completions=self.completions,
            verdicts=self.verdicts,
            panels=self.panels,
            checkpoints=checkpoints,
            publisher=DecisionPublisher(verdicts=self.verdicts, publisher=self.publisher),
            counting=DecisionCounting(
                checkpoints=checkpoints,
                statistics=self.statistics,
                windows=DecisionWindows(
                    counters=WindowCounters(self.completions_table), lane=self.lane
                ),
                audit=DecisionAudit(addition=self.audit_repository.addition),
                open_counts=self.completion_repository.open_counts,
            ),
            closing=BatchClosing(batches=self.open_batches, panels=self.panels),
            versions=VersionWitness(answered=AnsweredVersions(self.registry_table)),
        )

    @cached_property
    def verdict_router(self) -> Router:
        return Router(Route(NEW_DECISIONS, lambda: self.projection))
