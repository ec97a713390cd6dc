"""Jobs of which nobody but a person can say whether they were created."""

import json
from typing import Any

import boto3
import pytest

from autotune_platform.ledger.batching import creating
from autotune_platform.ledger.calls import Refusal
from autotune_platform.ledger.jobs.openai import OpenAiJobs
from autotune_platform.ledger.unclear import WAITS_FOR_OPERATOR
from tests.component.ledger.test_jobs import assert_paid_once, enqueue
from tests.support.ledger import Ledger


@pytest.fixture
def lost(ledger: Ledger) -> list[str]:
    """Rows whose job is created, and whose answer to the creation is lost."""
    ledger.fake.world.traps.arm(name="create_answer_lost", times=1)
    return enqueue(ledger, "openai")


def listed(ledger: Ledger) -> list[dict[str, Any]]:
    query = {"needsOperator": "true"}
    answer = ledger.platform.call("GET", "/api/v1/llm-batches", query=query)
    assert answer.status == 200, answer.text
    return list(answer.json["batches"])


def wait(ledger: Ledger, *, hours: float) -> None:
    with pytest.raises(AssertionError, match="rows are under way"):
        ledger.run_jobs(hours=hours)


def events_of(batch_id: str) -> list[dict[str, Any]]:
    """What is published of a batch that waits, as it is stored on its way out."""
    items = boto3.client("dynamodb").scan(TableName="ledger", ConsistentRead=True)["Items"]
    return [
        {"data": json.loads(one["data"]["S"])}
        for one in items
        if one["pk"]["S"] == batch_id
        and one.get("type", {}).get("S") == "ledger.batch.needs_operator"
    ]


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What the log said of batches that wait, in the words that the alarm counts."""
    lines: list[dict[str, Any]] = []

    def error(message: str, **fields: Any) -> None:
        if message == WAITS_FOR_OPERATOR:
            lines.append(fields)

    monkeypatch.setattr(creating.logger, "error", error)
    return lines


def test_several_jobs_that_may_be_a_batchs_call_a_person_who_says_which(
    ledger: Ledger,
    lost: list[str],
    monkeypatch: pytest.MonkeyPatch,
    said: list[dict[str, Any]],
) -> None:
    search = OpenAiJobs.search

    def doubled(self: Any, *args: Any) -> Any:
        found = search(self, *args)
        return found if isinstance(found, Refusal) else [*found, "batch_twin"]

    monkeypatch.setattr(OpenAiJobs, "search", doubled)
    wait(ledger, hours=2)
    (batch,) = listed(ledger)
    (job,) = ledger.fake.world.batches
    assert batch["job"]["candidates"] == [job, "batch_twin"]
    (event,) = events_of(batch["id"])
    assert event["data"]["candidates"] == [job, "batch_twin"]
    assert (event["data"]["stage"], event["data"]["batchId"]) == ("unknown", batch["id"])
    # At least one look in each quarter of an hour: the alarm stays for as long as it waits.
    assert len(said) >= 7
    assert {(one["batch_id"], *one["jobs"]) for one in said} == {(batch["id"], job, "batch_twin")}
    answer = ledger.platform.call(
        "POST", f"/api/v1/llm-batches/{batch['id']}/resolve", {"action": "adopt", "jobId": job}
    )
    assert answer.status == 200, answer.text
    said.clear()
    ledger.run_jobs()
    assert listed(ledger) == said == []
    assert_paid_once(ledger, lost)


def test_a_list_that_says_nothing_for_an_hour_calls_a_person(
    ledger: Ledger,
    lost: list[str],
    monkeypatch: pytest.MonkeyPatch,
    said: list[dict[str, Any]],
) -> None:
    refused = Refusal("provider_error", "it is down")
    with monkeypatch.context() as patched:
        patched.setattr(OpenAiJobs, "search", lambda *_: refused)
        wait(ledger, hours=0.9)
        assert listed(ledger) == said == []
        assert [one["job"]["stage"] for one in ledger.batches()] == ["unknown"]
        wait(ledger, hours=0.6)
        assert said != []
        said.clear()
    (only,) = ledger.batches()
    # The clock of this process is the real one again: to it, the creation is ahead.
    assert only["job"]["stage"] == "unknown"
    ledger.run_jobs()
    assert said == []
    assert_paid_once(ledger, lost)
