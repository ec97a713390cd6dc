"""Which providers have batch jobs, and who speaks with them."""

from collections.abc import Mapping
from datetime import timedelta

from autotune.protocol.llm_connections import LlmProvider
from autotune_platform.ledger.jobs.anthropic import AnthropicJobs
from autotune_platform.ledger.jobs.bedrock import BedrockJobs
from autotune_platform.ledger.jobs.contract import JobProvider
from autotune_platform.ledger.jobs.gemini import GeminiJobs
from autotune_platform.ledger.jobs.openai import AzureJobs, OpenAiJobs
from autotune_platform.ledger.jobs.openrouter import OpenRouterJobs
from autotune_platform.ledger.models import Connection, Mode
from autotune_platform.ledger.providers.anthropic import AnthropicFormat
from autotune_platform.ledger.providers.bedrock import BedrockFormat
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
    "bedrock": BedrockJobs(BedrockFormat()),
}


def provider_jobs(provider: LlmProvider) -> JobProvider | None:
    """Return what speaks with a provider about its jobs; None where it has none."""
    return _JOBS.get(provider)


def rows_at_most(connection: Connection, mode: Mode) -> int:
    """Return how many rows a batch of a connection may have: its own limit, or its provider's."""
    own = connection.rows_at_most(mode)
    jobs = provider_jobs(connection.provider) if mode == "job" else None
    if jobs is None:
        return own
    return min(own, jobs.limits.rows, connection.limits.enqueued_rows or own)


def rows_at_least(connection: Connection, mode: Mode) -> int:
    """Return how many rows a provider's job has to have; 1 where they are asked one by one."""
    jobs = provider_jobs(connection.provider) if mode == "job" else None
    return 1 if jobs is None else jobs.limits.rows_at_least


def rows_enough(connection: Connection, mode: Mode) -> int:
    """Return with how many rows nobody waits for more."""
    return max(connection.min_rows, rows_at_least(connection, mode))


def ends_within(connection: Connection) -> timedelta:
    """Return after which time a job of a connection has ended by itself."""
    if connection.bedrock is not None:
        return timedelta(hours=connection.bedrock.job_hours)
    jobs = provider_jobs(connection.provider)
    return JOB_WINDOW if jobs is None else jobs.limits.ends_within


def job_window(connection: Connection) -> timedelta:
    """Return within which time results of a job of a connection are promised."""
    return ends_within(connection) if connection.bedrock is not None else JOB_WINDOW


def bytes_at_most(connection: Connection) -> int:
    """Return how many bytes the input of a job of a connection may have."""
    jobs = provider_jobs(connection.provider)
    own = connection.bytes_at_most
    return own if jobs is None else min(own, jobs.limits.bytes)
