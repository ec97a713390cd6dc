"""Requests from the queue to their end: asked once, paid once, counted and settled."""

import importlib
import secrets
from collections import Counter
from typing import Any
from unittest.mock import patch

import boto3
import pytest

from autotune.protocol.ids import new_id
from autotune_platform.runtime.clock import Clock
from tests.support.ledger import MODEL, Ledger, row


def handler_parts() -> Any:
    """What the ledger's API is put together from."""
    return importlib.import_module("functions.ledger.api").parts()


VERDICT = {"type": "label", "labels": ["good", "bad"]}


def statuses(ledger: Ledger, ids: list[str]) -> Counter[str]:
    return Counter(ledger.read(request_id)["status"] for request_id in ids)


def assert_settled(ledger: Ledger) -> None:
    """Nothing is reserved, and what is booked is the provider's bill."""
    bill = ledger.fake.world.bill()["total_nano_usd"]
    for period in ("day", "week", "month"):  # all that there are: time may have passed over one
        assert ledger.spent_and_reserved(period) == (bill, 0)
    assert sum(batch["costNanoUsd"] for batch in ledger.batches()) == bill


def test_a_row_is_asked_once_and_comes_home(ledger: Ledger) -> None:
    connection = ledger.connect()
    ledger.fake.world.answers.answerer = lambda _: "It is short.\nVERDICT: good"
    (request_id,) = ledger.enqueue(connection, "Is it good?", verdict=VERDICT)
    assert ledger.read(request_id)["status"] == "queued"
    ledger.run()
    found = ledger.read(request_id)
    assert found["status"] == "completed"
    (execution,) = ledger.fake.world.executions
    assert found["rawOutput"] == f"[{execution.token}] It is short.\nVERDICT: good"
    assert found["reasoning"] == f"[{execution.token}] It is short."
    assert found["verdictText"] == found["parsedVerdict"] == "good"
    assert found["attempt"] == 1
    assert len(found["attempts"]) == 1
    assert found["costNanoUsd"] == execution.cost_nano_usd > 0
    assert found["usage"]["inputTokens"] == execution.input_tokens
    (batch,) = ledger.batches()
    assert batch["status"] == "completed"
    assert batch["counts"] == {"rows": 1, "completed": 1, "error": 0, "canceled": 0, "released": 0}
    assert_settled(ledger)


def test_what_cannot_be_read_is_completed_without_a_verdict_and_costs_the_same(
    ledger: Ledger,
) -> None:
    ledger.fake.world.answers.answerer = lambda _: "I would call it VERDICT: good, perhaps."
    (request_id,) = ledger.enqueue(ledger.connect(), "q", verdict=VERDICT)
    ledger.run()
    found = ledger.read(request_id)
    assert found["status"] == "completed"
    assert found["parseError"]["code"] == "verdict_missing"
    assert {found.get(name) for name in ("reasoning", "verdictText", "parsedVerdict")} == {None}
    assert found["rawOutput"].endswith("VERDICT: good, perhaps.")
    assert_settled(ledger)


def test_variables_are_put_in_and_what_was_put_in_is_no_template(ledger: Ledger) -> None:
    asked: list[str] = []
    ledger.fake.world.answers.answerer = lambda ask: asked.append(ask.prompt) or "ok"
    given: dict[str, Any] = {
        "system": "You judge {{what}}.",
        "user": "Text: {{text}}",
        "variables": {"what": "tone", "text": "{{what}} is \u00e9t\u00e9"},
    }
    (request_id,) = ledger.enqueue(ledger.connect(), "", input=given)
    ledger.run()
    assert asked == ["You judge tone.\nText: {{what}} is \u00e9t\u00e9"]
    assert ledger.read(request_id)["input"] == given


def test_a_hundred_rows_are_one_batch_and_each_is_paid_once(ledger: Ledger) -> None:
    connection = ledger.connect(maxRows=500)
    ids = ledger.enqueue(connection, *(f"question {n}" for n in range(100)))
    ledger.run()
    assert statuses(ledger, ids) == {"completed": 100}
    assert len(ledger.fake.world.executions) == 100
    assert len(ledger.batches()) == 1
    assert_settled(ledger)


def test_a_long_queue_goes_on_in_further_batches(ledger: Ledger) -> None:
    connection = ledger.connect(maxRows=20)
    ids = ledger.enqueue(connection, *(f"question {n}" for n in range(50)))
    ledger.run()
    assert statuses(ledger, ids) == {"completed": 50}
    assert sorted(batch["counts"]["rows"] for batch in ledger.batches()) == [10, 20, 20]
    assert_settled(ledger)


def test_the_same_key_enqueues_nothing_again_and_another_body_is_refused(ledger: Ledger) -> None:
    connection = ledger.connect()
    key = new_id("req")
    first = ledger.enqueue(connection, "a", "b", key=key)
    assert ledger.enqueue(connection, "a", "b", key=key) == first
    answer = ledger.platform.call(
        "POST",
        "/api/v1/llm-requests/batch",
        {"requests": [row(connection, "c")]},
        headers={"idempotency-key": key},
    )
    assert answer.status == 422
    assert answer.json["code"] == "idempotency_key_reused"
    ledger.run()
    assert len(ledger.fake.world.executions) == 2


def test_too_few_rows_wait_for_others_and_no_longer_than_they_may(
    ledger: Ledger,
) -> None:
    connection = ledger.connect(minRows=3, maxWaitSeconds=0)
    (alone,) = ledger.enqueue(connection, "a")
    ledger.run()
    assert ledger.read(alone)["status"] == "completed"  # it may not wait at all
    patient = ledger.connect(minRows=3, maxWaitSeconds=600)
    ids = ledger.enqueue(patient, "a", "b")
    ledger.run()
    assert statuses(ledger, ids) == {"queued": 2}
    ids += ledger.enqueue(patient, "c", "d", "e")
    ledger.run()
    assert statuses(ledger, ids) == {"completed": 5}
    assert_settled(ledger)


def test_costs_are_listed_by_model_and_purpose(ledger: Ledger) -> None:
    connection = ledger.connect()
    ledger.enqueue(connection, "a", "b")
    ledger.enqueue(connection, "c", purpose="critic")
    ledger.run()
    bill = ledger.fake.world.bill()
    for group, names in (
        ("model", {MODEL}),
        ("purpose", {"scoring", "critic"}),
        ("connection", {connection}),
        ("day", {ledger.budget()["day"]["name"]}),
    ):
        answer = ledger.platform.call("GET", "/api/v1/llm-costs", query={"groupBy": group})
        assert {one["group"] for one in answer.json["costs"]} == names
        assert sum(one["costNanoUsd"] for one in answer.json["costs"]) == bill["total_nano_usd"]
        assert sum(one["inputTokens"] for one in answer.json["costs"]) == bill["tokens"]["input"]


def test_a_row_takes_one_write_unit_at_a_time(ledger: Ledger) -> None:
    """Each of its four writes costs a unit a kilobyte begun."""
    (request_id,) = ledger.enqueue(ledger.connect(), "q" * 2_000, verdict=VERDICT)
    key = {"pk": {"S": request_id}, "sk": {"S": "state"}}

    def size() -> int:
        item = boto3.client("dynamodb").get_item(TableName="ledger", Key=key)["Item"]
        return sum(len(name) + size_of(value) for name, value in item.items())

    assert size() <= 1_024, "queued"
    ledger.run()
    assert ledger.read(request_id)["status"] == "completed"
    assert size() <= 1_024, "ended"


def size_of(value: dict[str, Any]) -> int:
    """Return the bytes of an attribute, as DynamoDB counts them (its developer guide)."""
    ((kind, held),) = value.items()
    match kind:
        case "M":
            return 3 + sum(len(name) + 1 + size_of(one) for name, one in held.items())
        case "L":
            return 3 + sum(1 + size_of(one) for one in held)
        case "N":
            return len(held) // 2 + 2
        case "S":
            return len(held.encode())
        case _:
            return 1


@pytest.mark.parametrize("characters", [100, 40_000, 500_000])
def test_texts_go_by_themselves_wherever_they_are(ledger: Ledger, characters: int) -> None:
    text = secrets.token_hex(characters // 2)  # packing does not make it small
    ledger.fake.world.answers.answerer = lambda ask: ask.prompt[:30_000]
    params = {"maxTokens": 50_000}
    (request_id,) = ledger.enqueue(ledger.connect(), text, retentionDays=1, params=params)
    ledger.run()
    found = ledger.read(request_id)
    assert found["input"]["user"] == text
    assert text[:1_000] in found["rawOutput"] or characters < 1_000
    objects = boto3.client("s3").list_objects_v2(Bucket="ledger")
    assert objects["KeyCount"] == 0, "nothing deletes an object when its time is over"
    items = boto3.client("dynamodb").scan(TableName="ledger")["Items"]
    texts = [one for one in items if one["sk"]["S"].split("#")[0] in ("input", "output")]
    assert texts
    assert all("expires_at" in one for one in texts)
    with patch.object(Clock, "unix", lambda self: self.now().timestamp() + 86_400 * 2):
        parts = handler_parts()
        assert parts.row_texts.input_of(request_id) is None
        assert parts.row_texts.output_of(request_id) is None
    erased = ledger.platform.call("DELETE", f"/api/v1/llm-requests/{request_id}/content")
    assert erased.status == 204
    items = boto3.client("dynamodb").scan(TableName="ledger")["Items"]
    assert not [one for one in items if one["sk"]["S"].split("#")[0] in ("input", "output")]
