"""``client.reward_urls``: addresses for trainers that can only call a URL."""

from datetime import datetime
from typing import Unpack

from autotune.client.arguments import request_of
from autotune.client.binding import AsyncResource, ListMethod, Method, Resource
from autotune.client.calls import Call, CallOptions, Listing, call, listing, returning
from autotune.client.filters import with_zone
from autotune.protocol import rewards

_created = returning(rewards.CreateRewardUrlResponse)
_reward_url = returning(rewards.RewardUrlResponse, lambda answer: answer.reward_url)
_reward_urls = returning(rewards.RewardUrlList, lambda page: (page.reward_urls, page.next_token))


def create_reward_url(
    *,
    name: str,
    task_id: str,
    model_id: str,
    expires_at: datetime | None = None,
    **options: Unpack[CallOptions],
) -> Call[rewards.CreateRewardUrlResponse]:
    """Make an address at which a trainer gets rewards; it is in the answer, this once.

    What is asked there is submitted to the task as the model's. Each trainer has its own path below
    it: ``autotune.protocol.rewards.CONTRACT_PATHS``.

    Args:
        expires_at: when it stops answering, local time without a zone; without it, once it is
            revoked.

    Raises:
        InvalidInputError: a field is out of its range; nothing was sent.
        InvalidRequestError: there is no such task in this organisation, or the expiry has passed.
    """
    request = request_of(
        rewards.CreateRewardUrlRequest,
        name=name,
        task_id=task_id,
        model_id=model_id,
        expires_at=with_zone(expires_at),
    )
    return call("POST", "reward-urls", read=_created, body=request, **options)


def list_reward_urls(
    *, page_size: int | None = None, **options: Unpack[CallOptions]
) -> Listing[rewards.RewardUrl]:
    """Walk through the organisation's reward URLs, revoked ones included, without what lets in.

    Args:
        page_size: reward URLs fetched at a time, 1 to 200.
    """
    return listing("reward-urls", read=_reward_urls, page_size=page_size, **options)


def get_reward_url(reward_url_id: str, **options: Unpack[CallOptions]) -> Call[rewards.RewardUrl]:
    """Read one reward URL, without what lets in.

    Raises:
        NotFoundError: there is none in this organisation.
    """
    return call("GET", "reward-urls", reward_url_id, read=_reward_url, **options)


def revoke_reward_url(
    reward_url_id: str, **options: Unpack[CallOptions]
) -> Call[rewards.RewardUrl]:
    """Revoke a reward URL, at once and for good.

    Raises:
        NotFoundError: there is none in this organisation.
    """
    return call("DELETE", "reward-urls", reward_url_id, read=_reward_url, **options)


class RewardUrlMethods:
    """Methods of reward URLs."""

    create = Method(create_reward_url)
    list = ListMethod(list_reward_urls)
    get = Method(get_reward_url)
    revoke = Method(revoke_reward_url)


class RewardUrls(RewardUrlMethods, Resource):
    """Reward URLs, blocking."""


class AsyncRewardUrls(RewardUrlMethods, AsyncResource):
    """Reward URLs, for an event loop."""
