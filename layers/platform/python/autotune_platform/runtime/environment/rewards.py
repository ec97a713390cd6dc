"""Environments of the functions of reward URLs."""

from autotune_platform.runtime.environment.base import Environment
from autotune_platform.runtime.environment.completions import SubmissionEnvironment


class RewardUrlEnvironment(Environment):
    """For the function that makes reward URLs, which hang below ``reward_url``."""

    reward_url: str


class RewardEnvironment(SubmissionEnvironment):
    """For the function that answers at reward URLs, and waits for scores."""

    budgets_table: str
