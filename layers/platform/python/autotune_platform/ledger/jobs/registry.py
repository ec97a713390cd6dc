"""Which providers have batch jobs, and who speaks with them."""

from collections.abc import Mapping
from datetime import timedelta

from autotune.protocol.llm_connections import LlmProvider
from autotune_platform.ledger.jobs.anthropic import AnthropicJobs
from autotune_platform.ledger.jobs.contract import JobProvider
from autotune_platform.ledger.jobs.gemini import GeminiJobs
from autotune_platform.ledger.jobs.openai import AzureJobs, OpenAiJobs
from autotune_platform.ledger.jobs.openrouter import OpenRouterJobs
from autotune_platform.ledger.models import Connection, Mode
from autotune_platform.ledger.providers.anthropic import AnthropicFormat
from autotune_platform.ledger.providers.gemini import GeminiFormat
from autotune_platform.ledger.providers.openai import OpenAiFormat

JOB_WINDOW = timedelta(hours=24)
"""Within which the providers promise a job to end."""

_JOBS: Mapping[LlmProvider, JobProvider] = {
    "openai": OpenAiJobs(OpenAiFormat("max_completion_tokens")),
    "azure": AzureJobs(OpenAiFormat("max_completion_tokens")),
    "anthropic": AnthropicJobs(AnthropicFormat()),
    "gemini": GeminiJobs(GeminiFormat()),
    "openrouter": OpenRouterJobs(OpenAiFormat("max_tokens")),
}


def provider_jobs(provider: LlmProvider) -> JobProvider | None:
    """Return what speaks with a provider about its jobs; None where it has none."""
    return _JOBS.get(provider)


def rows_at_most(connection: Connection, mode: Mode) -> int:
    """Return how many rows a batch of a connection may have: its own limit, or its provider's."""
    own = connection.rows_at_most(mode)
    jobs = provider_jobs(connection.provider) if mode == "job" else None
    return own if jobs is None else min(own, jobs.limits.rows)


def bytes_at_most(connection: Connection) -> int:
    """Return how many bytes the input of a job of a connection may have."""
    jobs = provider_jobs(connection.provider)
    own = connection.bytes_at_most
    return own if jobs is None else min(own, jobs.limits.bytes)
