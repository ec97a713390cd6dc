"""Connections on the wire: where language models are called, with whose key and at what price."""

import re
from decimal import Decimal
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, SecretStr, StringConstraints, model_validator

from autotune.protocol import limits
from autotune.protocol.llm_bedrock import BedrockAccess, BedrockSettings
from autotune.protocol.llm_limits import (
    ConnectionLimits,
    ConnectionTimings,
    LimitsInForce,
    ModelName,
    TimingsInForce,
)
from autotune.protocol.types import (
    Name,
    RequestModel,
    RequestRate,
    ResponseModel,
    Timestamp,
    at_most,
)

LlmProvider = Literal[
    "openai", "azure", "anthropic", "gemini", "openrouter", "bedrock", "simulated"
]
"""``simulated`` is any endpoint with OpenAI's chat completions: vLLM, Ollama, llama.cpp."""

ConnectionStatus = Literal["active", "paused", "revoked"]
"""A ``paused`` connection's rows wait: the provider refused its key or its account."""

Batches = Literal["always", "unless_urgent", "never"]
"""Which rows are sent in batch jobs of the provider, at its price for these.

``unless_urgent`` are those whose ``completeBy``, if any, leaves a job its 24 hours; the others are
asked one by one, at once and at the standard price.
"""

_KEYLESS: frozenset[LlmProvider] = frozenset({"bedrock", "simulated"})
_WITHOUT_DEFAULT_URL: frozenset[LlmProvider] = frozenset({"azure", "simulated"})


def _money(text: str) -> str:
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text) is None:
        raise ValueError("expected US dollars as digits, such as 0.15")
    return text


UsdAmount = Annotated[str, AfterValidator(_money)]
"""US dollars in decimal digits, as a string, so that no binary fraction changes them."""


def _visible(key: SecretStr) -> SecretStr:
    text = key.get_secret_value()
    longest = limits.MAX_LLM_KEY_CHARACTERS
    if not 0 < len(text) <= longest or re.fullmatch(r"[!-~]+", text) is None:
        raise ValueError(f"expected 1 to {longest} printable ASCII characters without spaces")
    if text.lower().startswith("arn:"):
        raise ValueError("expected the key itself: ARNs of secrets are not supported")
    return key


ProviderKey = Annotated[SecretStr, AfterValidator(_visible)]
"""A provider's key: it goes in, and never comes out again."""


class ModelPrice(RequestModel):
    """What a model costs, in US dollars for a million tokens.

    Without ``cached_input_usd`` or ``cache_write_usd`` these tokens cost what other input does.
    ``batch_`` are the same in batch jobs of the provider, which are not taken without such a price.
    """

    input_usd: UsdAmount
    output_usd: UsdAmount
    cached_input_usd: UsdAmount | None = None
    cache_write_usd: UsdAmount | None = None
    batch_input_usd: UsdAmount | None = None
    batch_output_usd: UsdAmount | None = None
    batch_cached_input_usd: UsdAmount | None = None
    batch_cache_write_usd: UsdAmount | None = None

    @model_validator(mode="after")
    def _whole_price_of_batches(self) -> Self:
        if (self.batch_input_usd is None) != (self.batch_output_usd is None):
            raise ValueError("batchInputUsd and batchOutputUsd belong together")
        return self


Prices = Annotated[
    dict[ModelName, ModelPrice],
    at_most(limits.MAX_LLM_PRICED_MODELS),
    Field(max_length=limits.MAX_LLM_PRICED_MODELS),
]


class _Settings(RequestModel):
    """How a connection is used; each field has a default, or keeps what it was in an update."""

    api_version: Annotated[str, StringConstraints(pattern=r"^[0-9A-Za-z.-]{1,40}$")] | None = None
    prices: Prices | None = None
    concurrency: Annotated[int, Field(ge=1, le=limits.MAX_LLM_CONCURRENCY)] | None = None
    requests_per_second: RequestRate | None = None
    timeout_seconds: (
        Annotated[int, Field(ge=limits.MIN_LLM_CALL_SECONDS, le=limits.MAX_LLM_CALL_SECONDS)] | None
    ) = None
    batches: Batches | None = None
    min_rows: Annotated[int, Field(ge=1, le=limits.MAX_LLM_BATCH_ROWS)] | None = None
    max_rows: Annotated[int, Field(ge=1, le=limits.MAX_LLM_BATCH_ROWS)] | None = None
    max_bytes: (
        Annotated[int, Field(ge=limits.MIN_LLM_BATCH_BYTES, le=limits.MAX_LLM_BATCH_BYTES)] | None
    ) = None
    max_wait_seconds: Annotated[int, Field(ge=0, le=limits.MAX_LLM_WAIT_SECONDS)] | None = None
    limits: ConnectionLimits | None = None
    timings: ConnectionTimings | None = None

    @model_validator(mode="after")
    def _fewest_below_most(self) -> Self:
        if self.min_rows and self.max_rows and self.min_rows > self.max_rows:
            raise ValueError("minRows must not be above maxRows")
        return self


class CreateConnectionRequest(_Settings):
    """Where to call a provider's models, and with which key.

    Attributes:
        base_url: where the API begins, as ``https://api.openai.com/v1``; the provider's own
            without it. Azure and simulated ones need it.
        api_key: needed for all but Bedrock and simulated ones; encrypted, and never shown again.
        bedrock: which role calls Bedrock in which region, in place of a URL and a key.
        api_version: the version of Azure's API.
        prices: of models by name, in place of published ones; 0 for what costs nothing.
        concurrency: most calls at the same time; 8 without it.
        requests_per_second: most single calls in a second, evenly spaced, all batches together; no
            limit without it. 20 a minute are 0.33.
        timeout_seconds: how long one call may take; 120 without it.
        batches: which rows go in batch jobs of the provider; without it ``unless_urgent``, and
            ``never`` for simulated ones, which have none.
        min_rows: as many queued rows make a batch at once; 20 without it.
        max_rows: most rows of a batch; without it 10,000 of a job, or 500 that are asked one by
            one. Where the provider takes fewer, that counts.
        max_bytes: most bytes of the input of a job; 50,000,000 without it, likewise.
        max_wait_seconds: fewer rows make a batch after this time; 300 without it.
        limits: what the provider's jobs may be together; the provider's own without them.
        timings: how long is waited for what of a job.
    """

    name: Name
    provider: LlmProvider
    base_url: Annotated[str, StringConstraints(max_length=2_000)] | None = None
    api_key: ProviderKey | None = None
    bedrock: BedrockSettings | None = None

    @model_validator(mode="after")
    def _what_the_provider_needs(self) -> Self:
        if (self.bedrock is not None) != (self.provider == "bedrock"):
            raise ValueError("bedrock: needed by the provider bedrock, and by no other")
        if self.bedrock is not None and self.api_key is not None:
            raise ValueError("apiKey: bedrock has none, but a role in bedrock.roleArn")
        if self.api_key is None and self.provider not in _KEYLESS:
            raise ValueError(f"apiKey: {self.provider} needs a key")
        if self.base_url is None and self.provider in _WITHOUT_DEFAULT_URL:
            raise ValueError(f"baseUrl is needed: {self.provider} has no address of its own")
        if self.provider == "simulated" and self.batches not in {None, "never"}:
            raise ValueError("batches: simulated connections have no batch jobs, only never")
        return self


class UpdateConnectionRequest(_Settings):
    """What changes of a connection; what is left out stays.

    ``apiVersion``, ``maxRows`` and ``maxBytes`` get their defaults back by null; no other takes it.
    A new ``api_key`` is the next version: calls under way finish with the old key. Prices are
    replaced as a whole. Of ``limits`` and ``timings``, fields that are left out stay, and null is
    back to what holds without them; ``limits.enqueued_tokens`` is replaced as a whole.
    """

    name: Name | None = None
    api_key: ProviderKey | None = None


class LlmConnection(ResponseModel):
    """A connection, without its key: ``key_ends_with`` are the last four characters of it.

    ``paused_because`` is the provider's refusal, where ``status`` is ``paused``.

    ``settings_version`` is one more after each change of how it is used; a batch says with which it
    was made. ``limits`` and ``timings`` are those that hold, the connection's own or not.
    """

    id: str
    name: str
    provider: LlmProvider
    base_url: str
    status: ConnectionStatus
    key_version: int
    key_ends_with: str | None = None
    api_version: str | None = None
    bedrock: BedrockAccess | None = None
    prices: dict[str, ModelPrice] = {}
    concurrency: int
    requests_per_second: float | None = None
    timeout_seconds: int
    batches: Batches
    min_rows: int
    max_rows: int | None = None
    max_bytes: int | None = None
    max_wait_seconds: int
    limits: LimitsInForce = Field(default_factory=LimitsInForce)
    timings: TimingsInForce = Field(default_factory=TimingsInForce)
    settings_version: int = 1
    paused_because: str | None = None
    created_by: str | None = None
    created_at: Timestamp
    updated_at: Timestamp


class LlmConnectionResponse(ResponseModel):
    """One connection."""

    connection: LlmConnection


class JobOfRevokedConnection(ResponseModel):
    """A job of the provider that was under way when its connection was revoked.

    Attributes:
        job_id: the provider's name of it; None where it was being created.
        is_asked_to_end: whether the provider took it that it is to end.
        detail: why it may go on, and be paid, where it was not.
    """

    batch_id: str
    job_id: str | None = None
    is_asked_to_end: bool
    detail: str | None = None


class RevokedLlmConnection(LlmConnection):
    """A connection that was revoked just now, with what it had under way.

    ``more_jobs`` is that there was no time to look through all batches: there may be other jobs.
    """

    jobs: list[JobOfRevokedConnection] = []
    more_jobs: bool = False


class RevokedLlmConnectionResponse(ResponseModel):
    """One connection that was revoked."""

    connection: RevokedLlmConnection


class LlmConnectionList(ResponseModel):
    """A page of connections, oldest first."""

    connections: list[LlmConnection]
    next_token: str | None = None


class VerifyConnectionRequest(RequestModel):
    """Ask a connection's model for one word; it costs what that costs."""

    model: ModelName


class ConnectionVerification(ResponseModel):
    """What came of one question, whose answer is waited for for 20 seconds at most.

    Attributes:
        error_code: as in a request's ``error``, where it did not work.
        detail: the same for people; the provider's own words are in it, the key never is.
        served_model: the model that answered, as the provider names it.
        milliseconds: how long the call took.
        cost_nano_usd: what it cost in billionths of a US dollar; None where the price is unknown.
    """

    works: bool
    error_code: str | None = None
    detail: str | None = None
    served_model: str | None = None
    milliseconds: int
    cost_nano_usd: int | None = None


def nano_usd(amount: str) -> int:
    """Return US dollars in billionths."""
    return int(Decimal(amount) * 1_000_000_000)
