"""What has ended is asked once more as its connection says now, and its texts stay as long."""

from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch

import boto3
import pytest

from autotune_platform.ledger import sending
from tests.component.ledger import test_jobs_bedrock as bedrock
from tests.component.ledger.test_jobs import MODELS, connect
from tests.component.ledger.test_journeys import assert_settled
from tests.component.ledger.test_reasking import FORM, UNREADABLE, between, chain, say
from tests.support.ledger import Ledger

MODEL = MODELS["openai"]


def change(ledger: Ledger, connection: str, **fields: Any) -> None:
    answer = ledger.platform.call("PATCH", f"/api/v1/llm-connections/{connection}", fields)
    assert answer.status == 200, answer.text


def retry(ledger: Ledger, request_id: str) -> str:
    answer = ledger.platform.call("POST", f"/api/v1/llm-requests/{request_id}/retry")
    assert answer.status == 202, answer.text
    (retried,) = answer.json["requestIds"]
    return str(retried)


def set_times(ledger: Ledger, request_id: str, **times: datetime) -> None:
    """Have a row be older than it is."""
    boto3.client("dynamodb").update_item(
        TableName="ledger",
        Key={"pk": {"S": request_id}, "sk": {"S": "state"}},
        UpdateExpression="SET " + ", ".join(f"{name} = :{name}" for name in times),
        ExpressionAttributeValues={
            f":{name}": {"S": at.strftime("%Y-%m-%dT%H:%M:%SZ")} for name, at in times.items()
        },
    )


@pytest.mark.parametrize(
    ("before", "after", "jobs"), [("never", "always", 1), ("always", "never", 0)]
)
def test_a_retry_goes_in_a_job_or_by_itself_as_its_connection_says_now(
    ledger: Ledger, before: str, after: str, jobs: int
) -> None:
    connection = connect(ledger, "openai", batches=before, minRows=10, maxWaitSeconds=3_600)
    (first,) = ledger.enqueue(connection, "a", model=MODEL)
    ledger.platform.call("POST", f"/api/v1/llm-requests/{first}/cancel")
    change(ledger, connection, batches=after, maxWaitSeconds=0)
    retried = retry(ledger, first)
    ledger.run_jobs()
    assert ledger.read(retried)["status"] == "completed"
    assert len(ledger.fake.world.batches) == jobs
    assert_settled(ledger)


@pytest.mark.parametrize(
    ("before", "after", "jobs"), [("never", "always", 1), ("always", "never", 1)]
)
def test_what_is_asked_again_goes_as_its_connection_says_now(
    ledger: Ledger, before: str, after: str, jobs: int
) -> None:
    say(ledger, UNREADABLE, "Fine.\nVERDICT: good")
    connection = connect(ledger, "openai", batches=before, maxWaitSeconds=0)
    (first,) = ledger.enqueue(connection, "a", model=MODEL, verdict=FORM)
    with between(lambda: change(ledger, connection, batches=after)):
        ledger.run_jobs()
    assert [one.get("parsedVerdict") for one in chain(ledger, first)] == [None, "good"]
    assert len(ledger.fake.world.batches) == jobs
    assert len(ledger.fake.world.executions) == 2
    assert_settled(ledger)


def test_a_retry_that_jobs_do_not_take_is_refused_by_field_where_all_goes_in_jobs(
    ledger: Ledger,
) -> None:
    connection = bedrock.connect(ledger)
    params = {"maxTokens": 50, "responseFormat": bedrock.FORM}
    (first,) = ledger.enqueue(connection, "a", model=bedrock.MODEL, params=params)
    ledger.platform.call("POST", f"/api/v1/llm-requests/{first}/cancel")
    change(ledger, connection, batches="always")
    answer = ledger.platform.call("POST", f"/api/v1/llm-requests/{first}/retry")
    assert (answer.status, list(answer.fields)) == (422, ["params.responseFormat"])


def test_what_jobs_do_not_take_any_more_is_not_asked_again_where_all_goes_in_jobs(
    ledger: Ledger,
) -> None:
    say(ledger, UNREADABLE)
    connection = connect(ledger, "openai", batches="always", maxWaitSeconds=0)
    (first,) = ledger.enqueue(connection, "a", model=MODEL, verdict=FORM)
    with patch.object(sending, "unsupported_in_batch", lambda *_: "seed"):
        ledger.run_jobs()
    assert [one["reaskSkipped"] for one in chain(ledger, first)] == ["unsupported_in_batch"]


def test_the_texts_of_a_retry_stay_as_many_days_as_the_first_ones_did(ledger: Ledger) -> None:
    connection = ledger.connect()
    (first,) = ledger.enqueue(connection, "a", retentionDays=9)
    ledger.platform.call("POST", f"/api/v1/llm-requests/{first}/cancel")
    now = datetime.now(UTC).replace(microsecond=0)
    old = now - timedelta(days=8, hours=3)
    set_times(ledger, first, created_at=old, expires_at=old + timedelta(days=9))
    goes = datetime.fromisoformat(ledger.read(retry(ledger, first))["expiresAt"])
    assert timedelta(0) <= goes - now - timedelta(days=9) < timedelta(minutes=1)


@pytest.mark.parametrize(
    ("provider", "hours", "is_asked"),
    [
        ("openai", 20, False),
        ("openai", 25, True),
        ("simulated", 0.9, False),
        ("simulated", 2, True),
    ],
)
def test_nothing_is_asked_again_whose_texts_would_go_before_the_answer_is_there(
    ledger: Ledger, provider: str, hours: float, is_asked: bool
) -> None:
    say(ledger, UNREADABLE, "Fine.\nVERDICT: good")
    connection = (
        ledger.connect(maxWaitSeconds=0)
        if provider == "simulated"
        else connect(ledger, provider, batches="always", maxWaitSeconds=0)
    )
    model = MODELS.get(provider, "small")
    (first,) = ledger.enqueue(connection, "a", model=model, verdict=FORM, retentionDays=1)
    goes = datetime.now(UTC) + timedelta(hours=hours)
    with between(lambda: set_times(ledger, first, expires_at=goes)):
        ledger.run_jobs()
    found = chain(ledger, first)
    assert found[0].get("reaskSkipped") == (None if is_asked else "texts_expire")
    assert len(found) == 1 + is_asked == len(ledger.fake.world.executions)
    assert_settled(ledger)
