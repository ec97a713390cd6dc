"""Parts that answer trainers."""

from functools import cached_property

from autotune_platform.budgets.repository import BudgetRepository
from autotune_platform.budgets.slots import Slots
from autotune_platform.budgets.waiting import WaitingShares
from autotune_platform.rewards.answering import RewardAnswers
from autotune_platform.rewards.repository import ClaimRepository
from autotune_platform.rewards.scoring import RewardScoring
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment.rewards import RewardEnvironment
from autotune_platform.storage.table import Table
from autotune_platform.wiring.access import ApiParts
from autotune_platform.wiring.reward_urls import RewardUrlParts
from autotune_platform.wiring.submission import SubmissionParts


class RewardScoringParts(ApiParts, SubmissionParts, RewardUrlParts):
    """What scores trainers' questions."""

    environment: RewardEnvironment

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
        table = Table(self.environment.budgets_table, clients.dynamodb())
        shares = WaitingShares(slots=Slots(budgets=BudgetRepository(table)), of="rewards")
        return RewardAnswers(scoring=self.reward_scoring, waiting=shares)
