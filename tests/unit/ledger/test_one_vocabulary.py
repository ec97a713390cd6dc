"""An error means the same of a single call and of a row in a batch job."""

import json
from typing import Any, get_args

import pytest

from autotune.protocol.llm_connections import LlmProvider
from autotune_platform.ledger.calls import Refusal
from autotune_platform.ledger.jobs.openai_documents import line_of
from autotune_platform.ledger.jobs.registry import provider_jobs
from autotune_platform.ledger.providers.registry import format_of

FILTERED = {"error": {"message": "filtered", "code": "ResponsibleAIPolicyViolation"}}


@pytest.mark.parametrize("provider", get_args(LlmProvider))
def test_jobs_speak_as_single_calls_do(provider: LlmProvider) -> None:
    jobs: Any = provider_jobs(provider)
    if jobs is not None:
        assert type(jobs._spoken) is type(format_of(provider))
        assert spoken(jobs._spoken) == spoken(format_of(provider))


def spoken(form: Any) -> dict[str, Any]:
    """What a format speaks; a job has a price of its own, so that its rows name no tier."""
    return {name: value for name, value in vars(form).items() if name != "_names_tier"}


def test_what_azure_filters_is_filtered_in_a_job_too() -> None:
    jobs: Any = provider_jobs("azure")
    singly = format_of("azure").outcome(400, {}, json.dumps(FILTERED).encode(), None)
    line = {"custom_id": "a", "response": {"status_code": 400, "body": FILTERED}, "error": None}
    found = line_of(json.dumps(line).encode(), jobs._spoken, None)
    assert found is not None
    in_job = found.outcome
    assert isinstance(singly, Refusal)
    assert isinstance(in_job, Refusal)
    assert singly.code == in_job.code == "content_filtered"
