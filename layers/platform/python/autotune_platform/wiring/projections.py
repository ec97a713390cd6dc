"""Parts that follow verdicts."""

from functools import cached_property

from autotune_platform.projections.checkpoints import CheckpointRepository
from autotune_platform.projections.decisions import DecisionAudit
from autotune_platform.projections.projection import VerdictProjection
from autotune_platform.runtime.environment import ProjectionEnvironment
from autotune_platform.storage.changes import Route, Router
from autotune_platform.verdicts.stored_verdicts import NEW_VERDICTS
from autotune_platform.wiring.access import AuditParts
from autotune_platform.wiring.completions import CompletionParts
from autotune_platform.wiring.graders import StatisticsParts
from autotune_platform.wiring.publishing import PublisherParts


class ProjectionParts(CompletionParts, StatisticsParts, PublisherParts, AuditParts):
    """What follows verdicts."""

    environment: ProjectionEnvironment

    @cached_property
    def projection(self) -> VerdictProjection:
        return VerdictProjection(
            batches=self.open_batches,
            completions=self.completions,
            verdicts=self.verdicts,
            checkpoints=CheckpointRepository(self.completions_table),
            panels=self.panels,
            statistics=self.statistics,
            publisher=self.publisher,
            audit=DecisionAudit(addition=self.audit_repository.addition),
        )

    @cached_property
    def verdict_router(self) -> Router:
        return Router(Route(NEW_VERDICTS, lambda: self.projection))
