"""Questions to small models, and how a task has its server."""

from typing import Any

import pytest

from autotune_platform.apprentice.local.contract import LocalQuestion
from autotune_platform.apprentice.local.linear import StudentInvocations
from tests.support.apprentice import OUTPUT_SCHEMA

QUESTION = LocalQuestion("Tell intents apart.", "I lost my card.", OUTPUT_SCHEMA, max_tokens=50)
AMPLE_MS = 20_000
BRIEF_MS = 300


def configured(backend: str, url: str | None) -> dict[str, Any]:
    return {"local": {"backend": backend, "url": url, "idleMinutes": 30}}


def no_students() -> StudentInvocations:
    pytest.fail("nobody asks a student")
