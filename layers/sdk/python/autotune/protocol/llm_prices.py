"""What tokens of requests to language models cost, on the wire."""

from typing import Literal

from autotune.protocol.types import ResponseModel

LlmProcessing = Literal["standard", "batch"]
"""At which price tokens are counted: that of single calls, or that of the provider's batch jobs."""


class LlmRates(ResponseModel):
    """US dollars for a million tokens, as decimal strings; None where there is no rate of its own.

    Cached input, and what is written to a cache, cost what other input does then, and reasoning
    what other output does.
    """

    input_usd: str | None = None
    output_usd: str | None = None
    cached_input_usd: str | None = None
    cache_write_usd: str | None = None
    reasoning_usd: str | None = None


class LlmPriceTier(LlmRates):
    """Rates of all tokens of a call with more input than so many tokens, where they are others."""

    above_input_tokens: int


class LlmPrice(LlmRates):
    """The price that a request's cost is counted with, as it was when it was enqueued.

    Attributes:
        source: the published price, or the connection's own.
        tiers: of long inputs, the shortest first.
    """

    processing: LlmProcessing
    source: Literal["genai-prices", "own"]
    tiers: list[LlmPriceTier] = []
