"""Which provider speaks which format."""

from collections.abc import Mapping

from autotune.protocol.llm_connections import LlmProvider
from autotune.protocol.llm_requests import LlmParams
from autotune_platform.ledger.calls import ProviderFormat
from autotune_platform.ledger.providers.anthropic import AnthropicFormat
from autotune_platform.ledger.providers.azure import AzureFormat
from autotune_platform.ledger.providers.bedrock import BedrockFormat
from autotune_platform.ledger.providers.gemini import GeminiFormat
from autotune_platform.ledger.providers.openai import OpenAiFormat

_FORMATS: Mapping[LlmProvider, ProviderFormat] = {
    "openai": OpenAiFormat("max_completion_tokens"),
    "azure": AzureFormat("max_completion_tokens"),
    "anthropic": AnthropicFormat(),
    "gemini": GeminiFormat(),
    "openrouter": OpenAiFormat("max_tokens"),
    "bedrock": BedrockFormat(),
    "simulated": OpenAiFormat("max_tokens"),
}


def format_of(provider: LlmProvider) -> ProviderFormat:
    """Return how a provider is asked and how its answers are read."""
    return _FORMATS[provider]


def unsupported(provider: LlmProvider, params: LlmParams) -> str | None:
    """Return the first field of the parameters that a provider does not take, None if none.

    It is named as on the wire, such as ``seed`` or ``extra.service_tier``. What changes the bound
    of a row's cost is not taken by any: more answers, other models, dearer tiers, searches.
    """
    return format_of(provider).unsupported(params)


def unsupported_in_batch(provider: LlmProvider, params: LlmParams) -> str | None:
    """Return the first field that a provider takes in single calls and not in its batch jobs."""
    return format_of(provider).unsupported_in_batch(params)
