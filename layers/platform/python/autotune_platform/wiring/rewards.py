"""Parts that answer trainers."""

from functools import cached_property

from autotune_platform.rewards.answering import RewardAnswers
from autotune_platform.rewards.repository import ClaimRepository
from autotune_platform.rewards.scoring import RewardScoring
from autotune_platform.runtime.environment import SubmissionEnvironment
from autotune_platform.wiring.access import ApiParts
from autotune_platform.wiring.reward_urls import RewardUrlParts
from autotune_platform.wiring.submission import SubmissionParts


class RewardScoringParts(ApiParts, SubmissionParts, RewardUrlParts):
    """What scores trainers' questions."""

    environment: SubmissionEnvironment

    @cached_property
    def reward_scoring(self) -> RewardScoring:
        return RewardScoring(
            claims=ClaimRepository(self.registry_table),
            tasks=self.tasks,
            submissions=self.submissions,
            completions=self.completions,
            verdicts=self.verdicts,
        )

    @cached_property
    def reward_answers(self) -> RewardAnswers:
        return RewardAnswers(scoring=self.reward_scoring)
