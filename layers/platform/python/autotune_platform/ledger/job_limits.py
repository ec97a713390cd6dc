"""What a provider's jobs of a connection may be together: its provider's limits, or its own.

A provider's numbers are data with a date. Where a provider allows more by tier, a connection may
say so; elsewhere it may only have less.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from autotune.protocol.llm_connections import LlmProvider
from autotune_platform.ledger.prices import most_input_tokens
from autotune_platform.runtime.frozen_model import FrozenModel


class OwnLimits(FrozenModel):
    """Limits that a connection has of its own; None is its provider's."""

    enqueued_tokens: Mapping[str, int] | None = None
    enqueued_rows: int | None = None
    open_jobs: int | None = None
    creations_per_hour: int | None = None


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits that hold; None where there is none.

    Attributes:
        enqueued_tokens: of input in jobs that have not ended, by model.
    """

    enqueued_tokens: Mapping[str, int]
    enqueued_rows: int | None
    open_jobs: int | None
    creations_per_hour: int | None


@dataclass(frozen=True, kw_only=True)
class ProviderLimits:
    """What a provider allows, as it says.

    Attributes:
        source: where it says so.
        read_on: when that was read.
        has_tokens: whether it counts enqueued tokens. How many follows from model and tier, so that
            there is no number to begin with.
        rows_by_tier: how many rows it allows in its highest tier, where that is more.
    """

    source: str
    read_on: date
    has_tokens: bool = False
    enqueued_rows: int | None = None
    rows_by_tier: int | None = None
    open_jobs: int | None = None
    creations_per_hour: int | None = None


_READ_ON = date(2026, 11, 22)

PROVIDER_LIMITS: Mapping[LlmProvider, ProviderLimits] = {
    "openai": ProviderLimits(
        source="https://developers.openai.com/api/docs/guides/batch",
        read_on=_READ_ON,
        has_tokens=True,
        creations_per_hour=2_000,
    ),
    # A job has one input file until its batch is settled.
    "azure": ProviderLimits(
        source="https://learn.microsoft.com/azure/ai-foundry/openai/how-to/batch",
        read_on=_READ_ON,
        has_tokens=True,
        open_jobs=500,
    ),
    # 100,000 was the lowest tier's; newer pages begin with 200,000. All end with 500,000.
    "anthropic": ProviderLimits(
        source="https://platform.claude.com/docs/en/api/rate-limits",
        read_on=date(2026, 11, 25),
        enqueued_rows=100_000,
        rows_by_tier=500_000,
    ),
    "gemini": ProviderLimits(
        source="https://ai.google.dev/gemini-api/docs/rate-limits",
        read_on=_READ_ON,
        has_tokens=True,
        open_jobs=100,
    ),
    "openrouter": ProviderLimits(
        source="https://openrouter.ai/docs/batch-quickstart", read_on=_READ_ON
    ),
    # Its quotas are by account, region and model, and adjustable: it names no number for all.
    "bedrock": ProviderLimits(
        source="https://docs.aws.amazon.com/bedrock/latest/userguide/quotas.html",
        read_on=_READ_ON,
    ),
}
"""What providers that have jobs allow."""

_NOTHING = ProviderLimits(source="none: it has no jobs", read_on=_READ_ON)


def limits_of(provider: LlmProvider, own: OwnLimits) -> Limits:
    """Return the limits that hold of a connection."""
    given = PROVIDER_LIMITS.get(provider, _NOTHING)
    return Limits(
        enqueued_tokens=own.enqueued_tokens or {},
        enqueued_rows=own.enqueued_rows or given.enqueued_rows,
        open_jobs=own.open_jobs or given.open_jobs,
        creations_per_hour=own.creations_per_hour or given.creations_per_hour,
    )


def misfit(provider: LlmProvider, own: OwnLimits) -> tuple[str, str] | None:
    """Return the first limit that a connection cannot have, by its name, and what it may be."""
    given = PROVIDER_LIMITS.get(provider)
    if given is None:
        values = {
            "enqueuedTokens": own.enqueued_tokens,
            "enqueuedRows": own.enqueued_rows,
            "openJobs": own.open_jobs,
            "creationsPerHour": own.creations_per_hour,
        }
        named = next((name for name, value in values.items() if value), None)
        return (named, f"left out: {provider} has no batch jobs here") if named else None
    if own.enqueued_tokens and not given.has_tokens:
        return "enqueuedTokens", f"left out: {provider} counts no enqueued tokens"
    ceilings = (
        ("enqueuedRows", own.enqueued_rows, given.rows_by_tier or given.enqueued_rows),
        ("openJobs", own.open_jobs, given.open_jobs),
        ("creationsPerHour", own.creations_per_hour, given.creations_per_hour),
    )
    for name, value, ceiling in ceilings:
        if value is not None and ceiling is not None and value > ceiling:
            return name, f"at most {ceiling}, which is what {provider} allows"
    return None


def enqueued_tokens(input_bytes: int, messages: int) -> int:
    """Return how many tokens a row counts as while it is in a job that has not ended.

    It is the bound that its cost has, too: never too few. Of English it is some four times as many.
    """
    return most_input_tokens(input_bytes, messages)
