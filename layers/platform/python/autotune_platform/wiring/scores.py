"""Parts that list scores."""

from functools import cached_property

from autotune_platform.completions.listing import ScoreListing
from autotune_platform.overview.comparison import ComparisonService
from autotune_platform.runtime.environment.completions import ContentEnvironment
from autotune_platform.verdicts.latest_scores import LatestScoreIndex
from autotune_platform.verdicts.newest_first import NewestVerdicts
from autotune_platform.verdicts.walking import ScoreWalk
from autotune_platform.wiring.access import ApiParts
from autotune_platform.wiring.completions import CompletionParts
from autotune_platform.wiring.tasks import TaskParts


class ScoreApiParts(ApiParts, CompletionParts, TaskParts):
    """What lists scores."""

    environment: ContentEnvironment

    @cached_property
    def score_listing(self) -> ScoreListing:
        return ScoreListing(
            walk=ScoreWalk(
                verdicts=self.verdicts,
                newest=NewestVerdicts(table=self.completions_table),
                tasks=self.tasks,
            ),
            verdicts=self.verdicts,
            completions=self.completions,
            graders=self.graders,
        )

    @cached_property
    def comparison(self) -> ComparisonService:
        return ComparisonService(
            tasks=self.tasks,
            index=LatestScoreIndex(self.completions_table),
            completions=self.completions,
        )
