"""Reward URLs as callers see them."""

from datetime import UTC, datetime

from autotune.protocol import rewards as wire
from autotune_platform.rewards.models import RewardUrl


def reward_url_on_wire(reward_url: RewardUrl) -> wire.RewardUrl:
    """Return a reward URL without its token, with its state now."""
    state = reward_url.state_at(datetime.now(UTC))
    return wire.RewardUrl.model_validate({**reward_url.model_dump(), "state": state})
