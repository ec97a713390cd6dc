"""Which providers have batch jobs, and who speaks with them."""

from collections.abc import Mapping

from autotune.protocol.llm_connections import LlmProvider
from autotune_platform.ledger.jobs.anthropic import AnthropicJobs
from autotune_platform.ledger.jobs.bedrock import BedrockJobs
from autotune_platform.ledger.jobs.contract import JobProvider
from autotune_platform.ledger.jobs.gemini import GeminiJobs
from autotune_platform.ledger.jobs.openai import AzureJobs, OpenAiJobs
from autotune_platform.ledger.jobs.openrouter import OpenRouterJobs
from autotune_platform.ledger.providers.anthropic import AnthropicFormat
from autotune_platform.ledger.providers.azure import AzureFormat
from autotune_platform.ledger.providers.bedrock import BedrockFormat
from autotune_platform.ledger.providers.gemini import GeminiFormat
from autotune_platform.ledger.providers.openai import OpenAiFormat

_JOBS: Mapping[LlmProvider, JobProvider] = {
    "openai": OpenAiJobs(OpenAiFormat("max_completion_tokens")),
    "azure": AzureJobs(AzureFormat("max_completion_tokens")),
    "anthropic": AnthropicJobs(AnthropicFormat()),
    "gemini": GeminiJobs(GeminiFormat()),
    "openrouter": OpenRouterJobs(OpenAiFormat("max_tokens")),
    "bedrock": BedrockJobs(BedrockFormat()),
}


def provider_jobs(provider: LlmProvider) -> JobProvider | None:
    """Return what speaks with a provider about its jobs; None where it has none."""
    return _JOBS.get(provider)
