"""What jobs may be are numbers: whoever enqueues or asks for them loads no provider's jobs."""

import subprocess
import sys
from typing import get_args

import pytest

from autotune.protocol.llm_connections import LlmProvider
from autotune_platform.ledger.job_sizes import JOB_SIZES, has_jobs
from autotune_platform.ledger.jobs.registry import provider_jobs

SENDING = ("autotune_platform.ledger.jobs.", "autotune_platform.ledger.batching.")
OF_THE_LEDGER = "autotune_platform.ledger."
NOT_SENDING = (
    "autotune_platform.ledger.enqueuing",
    "autotune_platform.ledger.connection_settings",
    "functions.ledger.api",
    "functions.ledger.batches_api",
    "functions.ledger.sweep_ledger",
)


def loaded_by(module: str) -> list[str]:
    """Return what a fresh process has of the ledger once it has a module."""
    script = f"import sys, {module}; print(*sys.modules)"
    found = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120
    )
    return [one for one in found.stdout.split() if one.startswith(OF_THE_LEDGER)]


@pytest.mark.parametrize("module", NOT_SENDING)
def test_what_sends_no_jobs_loads_nothing_that_does(module: str) -> None:
    loaded = loaded_by(module)
    assert "autotune_platform.ledger.job_sizes" in loaded
    assert [one for one in loaded if one.startswith(SENDING)] == []


def test_what_works_on_batches_loads_it() -> None:
    assert "autotune_platform.ledger.jobs.openai" in loaded_by("functions.ledger.work_batch")


@pytest.mark.parametrize("provider", get_args(LlmProvider))
def test_a_provider_has_sizes_of_jobs_if_it_has_jobs(provider: LlmProvider) -> None:
    assert has_jobs(provider) == (provider_jobs(provider) is not None)


def test_a_job_is_neither_empty_nor_endless() -> None:
    for provider, sizes in JOB_SIZES.items():
        assert 1 <= sizes.rows_at_least < sizes.rows, provider
        assert sizes.bytes > 0, provider
        assert sizes.ends_within.total_seconds() > 0, provider
