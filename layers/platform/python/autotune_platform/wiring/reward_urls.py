"""Parts that make and read reward URLs."""

from functools import cached_property

from autotune_platform.rewards.repository import RewardUrlRepository
from autotune_platform.rewards.service import RewardUrlService
from autotune_platform.runtime.environment.rewards import RewardUrlEnvironment
from autotune_platform.wiring.access import ApiParts
from autotune_platform.wiring.tasks import TaskParts


class RewardUrlParts(TaskParts):
    """What knows reward URLs."""

    @cached_property
    def reward_urls(self) -> RewardUrlService:
        return RewardUrlService(
            repository=RewardUrlRepository(self.registry_table),
            tasks=self.tasks,
            secrets=self.secrets,
        )


class RewardUrlApiParts(ApiParts, RewardUrlParts):
    """What makes reward URLs."""

    environment: RewardUrlEnvironment
