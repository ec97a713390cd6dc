"""Reward URLs on the wire: addresses at which trainers ask for rewards that can only call a URL."""

from typing import Literal

from autotune.protocol.completions import ModelId
from autotune.protocol.types import Moment, Name, RequestModel, ResponseModel, TaskId, Timestamp

RewardUrlState = Literal["active", "revoked", "expired"]

CONTRACT_PATHS = {
    "openrlhf": "openrlhf",
    "slime": "slime",
    "nemo-gym": "nemo-gym/verify",
    "azure": "azure",
    "eval-protocol": "eval-protocol/evaluate",
    "nova": "nova",
}
"""Where each trainer asks, below a reward URL."""


class CreateRewardUrlRequest(RequestModel):
    """An address for one trainer: what it asks there is submitted to the task, as the model's.

    Attributes:
        expires_at: when it stops answering, in the future; without it, once it is revoked.
    """

    name: Name
    task_id: TaskId
    model_id: ModelId
    expires_at: Moment | None = None


class RewardUrl(ResponseModel):
    """A reward URL, without the token that stands in it; ``created_by`` is the key that made it."""

    id: str
    name: str
    task_id: str
    model_id: str
    state: RewardUrlState
    created_at: Timestamp
    created_by: str | None = None
    expires_at: Timestamp | None = None


class CreateRewardUrlResponse(ResponseModel):
    """``url`` is shown this once; whoever knows it may ask, so keep it as a secret.

    Each trainer's path (``CONTRACT_PATHS``) hangs below it.
    """

    reward_url: RewardUrl
    url: str


class RewardUrlResponse(ResponseModel):
    """One reward URL."""

    reward_url: RewardUrl


class RewardUrlList(ResponseModel):
    """A page of reward URLs."""

    reward_urls: list[RewardUrl]
    next_token: str | None = None
