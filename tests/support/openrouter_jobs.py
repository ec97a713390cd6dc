"""OpenRouter's jobs, and documents of the fake that say something else."""

from typing import Any

import pytest

from autotune_platform.ledger.jobs.openrouter import OpenRouterJobs
from autotune_platform.ledger.providers.openai import OpenAiFormat
from tests.providers import batches_openrouter

JOBS = OpenRouterJobs(OpenAiFormat("max_tokens"))


def telling(monkeypatch: pytest.MonkeyPatch, **members: Any) -> None:
    """Let the fake's documents have other members."""
    document = batches_openrouter.document

    def told(*args: Any, **options: Any) -> dict[str, Any]:
        return {**document(*args, **options), **members}

    monkeypatch.setattr(batches_openrouter, "document", told)
