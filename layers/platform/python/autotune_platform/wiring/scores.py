"""Parts that list scores."""

from functools import cached_property

from autotune_platform.completions.listing import ScoreListing
from autotune_platform.runtime.environment import ContentEnvironment
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
            walk=ScoreWalk(verdicts=self.verdicts, tasks=self.tasks),
            verdicts=self.verdicts,
            completions=self.completions,
            graders=self.graders,
        )
