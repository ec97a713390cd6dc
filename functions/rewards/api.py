"""Reward URLs: making, listing and revoking them."""

from functools import cache
from typing import Any

from autotune.protocol.rewards import (
    CreateRewardUrlRequest,
    CreateRewardUrlResponse,
    RewardUrlList,
    RewardUrlResponse,
)
from autotune_platform.http.api import Api
from autotune_platform.http.parameters import NextToken, PageSize
from autotune_platform.rewards.service import reward_url_on_wire
from autotune_platform.runtime.environment.rewards import RewardUrlEnvironment
from autotune_platform.wiring.reward_urls import RewardUrlApiParts


@cache
def parts() -> RewardUrlApiParts:
    """Return what this process is put together from."""
    return RewardUrlApiParts(RewardUrlEnvironment.parse())


app = Api(parts)


@app.post("/api/v1/reward-urls", status_code=201, tags=["reward URLs"])
def create_reward_url(body: CreateRewardUrlRequest) -> CreateRewardUrlResponse:
    """Make an address at which a trainer gets rewards that sends no headers; it is shown this once.

    Below it are ``/openrlhf``, ``/slime``, ``/nemo-gym/verify``, ``/azure``,
    ``/eval-protocol/evaluate`` and ``/nova``.
    """
    reward_url, token = parts().reward_urls.create(app.caller, body)
    app.made(reward_url_id=reward_url.id)
    return CreateRewardUrlResponse(
        reward_url=reward_url_on_wire(reward_url), url=f"{parts().environment.reward_url}/r/{token}"
    )


@app.get("/api/v1/reward-urls", tags=["reward URLs"])
def list_reward_urls(
    limit: PageSize = 50,
    next_token: NextToken = None,
) -> RewardUrlList:
    """List the organisation's reward URLs, oldest first, those that were revoked too."""
    found, token = parts().reward_urls.list(app.caller, limit=limit, next_token=next_token)
    return RewardUrlList(reward_urls=[reward_url_on_wire(one) for one in found], next_token=token)


@app.get("/api/v1/reward-urls/<reward_url_id>", tags=["reward URLs"])
def read_reward_url(reward_url_id: str) -> RewardUrlResponse:
    """Return one reward URL, without what lets in."""
    return RewardUrlResponse(
        reward_url=reward_url_on_wire(parts().reward_urls.get(app.caller, reward_url_id))
    )


@app.delete("/api/v1/reward-urls/<reward_url_id>", tags=["reward URLs"])
def revoke_reward_url(reward_url_id: str) -> RewardUrlResponse:
    """Revoke a reward URL at once and for good; what was asked there before is still scored."""
    return RewardUrlResponse(
        reward_url=reward_url_on_wire(parts().reward_urls.revoke(app.caller, reward_url_id))
    )


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one HTTP request."""
    return app.handle(event, context)
