"""Serves trainers that can only call a URL; it waits for scores longer than an API could."""

from functools import cache
from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Query
from pydantic import BeforeValidator

from autotune.protocol.limits import (
    MAX_REWARD_STOP_CHARACTERS,
    MAX_REWARD_STOPS,
    MAX_REWARD_WAIT_SECONDS,
)
from autotune_platform.access.capabilities import bearer_of
from autotune_platform.http.api import Api
from autotune_platform.rewards.contracts.azure import AZURE
from autotune_platform.rewards.contracts.eval_protocol import EVAL_PROTOCOL
from autotune_platform.rewards.contracts.nemo_gym import NEMO_GYM
from autotune_platform.rewards.contracts.nova import NOVA
from autotune_platform.rewards.contracts.openrlhf import OPENRLHF
from autotune_platform.rewards.contracts.reading import Contract
from autotune_platform.rewards.contracts.slime import SLIME
from autotune_platform.runtime.environment.rewards import RewardEnvironment
from autotune_platform.wiring.rewards import RewardScoringParts

# The time that the function keeps for answering that scores are still pending.
_TO_ANSWER_SECONDS = 10


def _as_sent(_: Any) -> list[str]:
    """Return the stops of the query, which the framework split at each comma."""
    stops = app.signed_request.values_of("stop")
    if len(stops) > MAX_REWARD_STOPS or any(
        not 1 <= len(stop) <= MAX_REWARD_STOP_CHARACTERS for stop in stops
    ):
        limits = f"at most {MAX_REWARD_STOPS} texts of 1 to {MAX_REWARD_STOP_CHARACTERS} characters"
        raise ValueError(limits)
    return stops


Wait = Annotated[int | None, Query(ge=0, le=MAX_REWARD_WAIT_SECONDS)]
Stops = Annotated[list[str], Query(alias="stop"), BeforeValidator(_as_sent)]


@cache
def parts() -> RewardScoringParts:
    """Return what this process is put together from."""
    return RewardScoringParts(RewardEnvironment.parse())


app = Api(parts, keyless=True)


@app.post("/r/<token>/openrlhf", tags=["rewards"])
def score_for_openrlhf(token: str, wait: Wait = None, stop: Stops = []) -> Any:  # noqa: B006
    """Answer OpenRLHF's remote reward client."""
    return _answer(token, OPENRLHF, wait, stop)


@app.post("/r/<token>/slime", tags=["rewards"])
def score_for_slime(token: str, wait: Wait = None, stop: Stops = []) -> Any:  # noqa: B006
    """Answer slime's remote reward client."""
    return _answer(token, SLIME, wait, stop)


@app.post("/r/<token>/nemo-gym/verify", tags=["rewards"])
def score_for_nemo_gym(token: str, wait: Wait = None, stop: Stops = []) -> Any:  # noqa: B006
    """Answer what a resources server of NeMo Gym passes on."""
    return _answer(token, NEMO_GYM, wait, stop)


@app.post("/r/<token>/azure", tags=["rewards"])
def score_for_azure(token: str, wait: Wait = None, stop: Stops = []) -> Any:  # noqa: B006
    """Answer Azure OpenAI's endpoint grader."""
    return _answer(token, AZURE, wait, stop)


@app.post("/r/<token>/eval-protocol/evaluate", tags=["rewards"])
def score_for_eval_protocol(token: str, wait: Wait = None, stop: Stops = []) -> Any:  # noqa: B006
    """Answer eval-protocol's remote reward function."""
    return _answer(token, EVAL_PROTOCOL, wait, stop)


@app.post("/r/<token>/nova", tags=["rewards"])
def score_for_nova(token: str, wait: Wait = None, stop: Stops = []) -> Any:  # noqa: B006
    """Answer what a reward function of Amazon Nova passes on."""
    return _answer(token, NOVA, wait, stop)


def _answer(token: str, contract: Contract, wait: int | None, stops: list[str]) -> Any:
    reward_url = parts().reward_urls.prove(token)
    # From here on the organisation is known, and its audit log may show who uses its URL.
    app.acts_for(reward_url.organization_id, principal_id=reward_url.id, is_outsider=False)
    parts().reward_urls.require_active(reward_url)
    caller = parts().access.admit(bearer_of(reward_url))
    app.signed_request.require_within_limit(contract.most_bytes)
    left: float = app.lambda_context.get_remaining_time_in_millis() / 1000 - _TO_ANSWER_SECONDS
    wished = contract.wait_seconds if wait is None else wait
    return parts().reward_answers.answer(
        caller,
        reward_url,
        contract,
        app.signed_request.body,
        wait_seconds=max(0, min(wished, left)),
        stops=stops,
    )


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one HTTP request."""
    return app.handle(event, context)
