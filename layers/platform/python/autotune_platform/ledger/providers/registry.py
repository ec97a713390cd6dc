"""Which provider speaks which format."""

from collections.abc import Mapping, Sequence

from autotune.protocol.llm_connections import LlmProvider
from autotune.protocol.llm_params import LlmParams
from autotune_platform.ledger.calls import ProviderFormat, Turn
from autotune_platform.ledger.providers.anthropic import AnthropicFormat
from autotune_platform.ledger.providers.azure import AzureFormat
from autotune_platform.ledger.providers.bedrock import BedrockFormat
from autotune_platform.ledger.providers.gemini import GeminiFormat
from autotune_platform.ledger.providers.openai import OpenAiFormat

_FORMATS: Mapping[LlmProvider, ProviderFormat] = {
    "openai": OpenAiFormat("max_completion_tokens", names_tier=True),
    "azure": AzureFormat("max_completion_tokens"),
    "anthropic": AnthropicFormat(),
    "gemini": GeminiFormat(),
    "openrouter": OpenAiFormat("max_tokens"),
    "bedrock": BedrockFormat(),
    "simulated": OpenAiFormat("max_tokens"),
}
# Of others only some models take schemas.
_STRUCTURED: frozenset[LlmProvider] = frozenset({"openai", "azure"})


def format_of(provider: LlmProvider) -> ProviderFormat:
    """Return how a provider is asked and how its answers are read."""
    return _FORMATS[provider]


def openai_wire_of(provider: LlmProvider) -> OpenAiFormat | None:
    """Return how a provider takes OpenAI's chat completions as they are; None where it does not."""
    spoken = format_of(provider)
    return spoken if isinstance(spoken, OpenAiFormat) else None


def with_openai_wire() -> list[LlmProvider]:
    """Return the providers that take OpenAI's chat completions as they are."""
    return [provider for provider in _FORMATS if openai_wire_of(provider)]


def takes_json_schema(provider: LlmProvider) -> bool:
    """Return whether all of a provider's models take OpenAI's schemas in chat completions."""
    return provider in _STRUCTURED


def unsupported(provider: LlmProvider, params: LlmParams) -> str | None:
    """Return the first field of the parameters that a provider does not take, None if none.

    It is named as on the wire, such as ``seed`` or ``extra.service_tier``. What changes the bound
    of a row's cost is not taken by any: more answers, other models, dearer tiers, searches.
    """
    return format_of(provider).unsupported(params)


def unsupported_turn(provider: LlmProvider, turns: Sequence[Turn]) -> int | None:
    """Return the place of the first turn that a provider does not take there, None if none."""
    return format_of(provider).unsupported_turn(turns)


def unsupported_in_batch(provider: LlmProvider, params: LlmParams) -> str | None:
    """Return the first field that a provider takes in single calls and not in its batch jobs."""
    return format_of(provider).unsupported_in_batch(params)
