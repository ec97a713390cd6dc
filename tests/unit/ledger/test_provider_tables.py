"""Each table by provider has an entry of every provider, or names here that it has none."""

from collections.abc import Collection
from typing import get_args

import pytest

from autotune.protocol import llm_connections
from autotune.protocol.llm_connections import LlmProvider
from autotune_platform.ledger import connections, job_limits, job_sizes, price_lists
from autotune_platform.ledger.jobs import registry as jobs
from autotune_platform.ledger.providers import registry as formats

PROVIDERS: frozenset[LlmProvider] = frozenset(get_args(LlmProvider))
WITHOUT_JOBS = {"simulated"}
TABLES: list[tuple[str, Collection[str], set[str]]] = [
    ("addresses", connections.BASE_URLS, {"azure", "bedrock", "simulated"}),
    ("formats", formats._FORMATS, set()),
    ("jobs", jobs._JOBS, WITHOUT_JOBS),
    ("sizes of jobs", job_sizes.JOB_SIZES, WITHOUT_JOBS),
    ("limits of jobs", job_limits.PROVIDER_LIMITS, WITHOUT_JOBS),
    ("price lists", price_lists._LISTS, {"simulated"}),
    (
        "schemas",
        formats._STRUCTURED,
        {"anthropic", "gemini", "openrouter", "bedrock", "simulated"},
    ),
]


@pytest.mark.parametrize(
    ("table", "without"),
    [(table, without) for _, table, without in TABLES],
    ids=[name for name, _, _ in TABLES],
)
def test_each_provider_has_its_entry_or_is_named(table: Collection[str], without: set[str]) -> None:
    assert set(table) | without == PROVIDERS
    assert not set(table) & without


def test_where_no_address_is_known_one_is_asked_for_or_follows_from_the_region() -> None:
    asked_for = llm_connections._WITHOUT_DEFAULT_URL
    assert PROVIDERS - set(connections.BASE_URLS) == asked_for | {"bedrock"}


def test_only_azure_leaves_jobs_that_are_overdue() -> None:
    ending = {provider for provider, one in jobs._JOBS.items() if one.expires_by_itself}
    assert set(jobs._JOBS) - ending == {"azure"}
