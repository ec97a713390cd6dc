"""What an admin says of an unclear creation is taken only where it loses and repeats nothing."""

from dataclasses import replace
from datetime import timedelta
from importlib import import_module
from typing import Any

import pytest

from autotune.protocol.llm_batches import ResolveLlmBatchRequest
from autotune_platform.ledger.calls import Refusal
from autotune_platform.ledger.jobs.contract import Missing
from autotune_platform.ledger.jobs.openai import OpenAiJobs
from tests.component.ledger.test_connections_changing import caller_of, service
from tests.component.ledger.test_jobs import assert_paid_once, enqueue, trap
from tests.support.lambdas import Answer
from tests.support.ledger import Ledger, later

SEARCH = OpenAiJobs.search


@pytest.fixture
def ids(ledger: Ledger) -> list[str]:
    trap(ledger, "create_answer_lost")
    return enqueue(ledger, "openai", count=2)


@pytest.fixture
def unclear(ledger: Ledger, ids: list[str], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A batch of a job that the provider does not list."""
    monkeypatch.setattr(OpenAiJobs, "search", lambda *_: [])
    wait(ledger, minutes=3)
    (batch,) = ledger.batches()
    assert batch["job"]["stage"] == "unknown"
    found: dict[str, Any] = batch
    return found


def wait(ledger: Ledger, *, minutes: float) -> None:
    with pytest.raises(AssertionError, match="under way"):
        ledger.run_jobs(hours=minutes / 60)


def resolve(ledger: Ledger, batch: dict[str, Any], **body: Any) -> Answer:
    return ledger.platform.call("POST", f"/api/v1/llm-batches/{batch['id']}/resolve", body)


def copied(ledger: Ledger, **changes: Any) -> str:
    """Another job at the provider, like the one that there is."""
    (job,) = ledger.fake.world.batches.values()
    twin = replace(job, id="batch_twin", traps={}, **changes)
    ledger.fake.world.batches[twin.id] = twin
    return str(twin.id)


def test_a_job_is_not_created_anew_before_the_first_one_would_be_visible(
    ledger: Ledger, ids: list[str], unclear: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = resolve(ledger, unclear, action="resubmit")
    assert answer.status == 409, answer.text
    assert "resubmit is possible from 20" in answer.json["detail"]
    monkeypatch.setattr(OpenAiJobs, "search", SEARCH)
    ledger.run_jobs()
    assert len(ledger.fake.world.batches) == 1
    assert_paid_once(ledger, ids)


def test_it_is_created_anew_once_the_first_one_would_be_visible(
    ledger: Ledger, unclear: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OpenAiJobs, "search", lambda *_: Refusal("provider_error", "it is down"))
    wait(ledger, minutes=20)
    connection = service().repository.get(unclear["connectionId"])
    assert connection is not None
    resolving = import_module("functions.ledger.connections_api").parts().resolving
    with later(timedelta(seconds=ledger.passed)):
        resolving.resolve(
            caller_of(connection), unclear["id"], ResolveLlmBatchRequest(action="resubmit")
        )
    assert ledger.batches()[0]["job"]["stage"] == "creating"


def test_a_job_that_there_is_not_is_not_adopted(
    ledger: Ledger, ids: list[str], unclear: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = resolve(ledger, unclear, action="adopt", jobId="batch_nobody")
    assert answer.status == 409, answer.text
    assert "shows no such job" in answer.json["detail"]
    assert ledger.batches()[0]["job"]["stage"] == "unknown"
    monkeypatch.setattr(OpenAiJobs, "search", SEARCH)
    ledger.run_jobs()
    assert_paid_once(ledger, ids)


def test_a_job_of_another_size_is_not_adopted(ledger: Ledger, unclear: dict[str, Any]) -> None:
    (job,) = ledger.fake.world.batches.values()
    twin = copied(ledger, rows=job.rows[:1])
    answer = resolve(ledger, unclear, action="adopt", jobId=twin)
    assert answer.status == 409, answer.text
    assert "has 1 requests, and the batch 2" in answer.json["detail"]


def test_a_job_of_another_model_is_not_adopted(ledger: Ledger, unclear: dict[str, Any]) -> None:
    twin = copied(ledger, model="gpt-4.1")
    answer = resolve(ledger, unclear, action="adopt", jobId=twin)
    assert answer.status == 409, answer.text
    assert "model gpt-4.1" in answer.json["detail"]


def test_a_look_that_is_refused_adopts_nothing(ledger: Ledger, unclear: dict[str, Any]) -> None:
    (job,) = ledger.fake.world.batches
    trap(ledger, "get_500")
    answer = resolve(ledger, unclear, action="adopt", jobId=job)
    assert answer.status == 409, answer.text
    assert "could not be looked at" in answer.json["detail"]
    assert resolve(ledger, unclear, action="adopt", jobId=job).status == 200


def test_it_may_be_said_again_while_the_job_that_was_adopted_cannot_be_seen(
    ledger: Ledger, ids: list[str], unclear: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    (job,) = ledger.fake.world.batches
    look = OpenAiJobs.look

    def not_the_twin(self: Any, session: Any, asked: Any) -> Any:
        return Missing() if asked.job_id == "batch_twin" else look(self, session, asked)

    monkeypatch.setattr(OpenAiJobs, "look", not_the_twin)
    monkeypatch.setattr(OpenAiJobs, "search", lambda *_: ["batch_twin"])
    assert resolve(ledger, unclear, action="adopt", jobId="batch_twin").status == 200
    # Nothing says yet that it cannot be seen.
    assert resolve(ledger, unclear, action="adopt", jobId=job).status == 409
    wait(ledger, minutes=5)
    answer = resolve(ledger, unclear, action="adopt", jobId=job)
    assert answer.status == 200, answer.text
    ledger.run_jobs()
    assert_paid_once(ledger, ids)
