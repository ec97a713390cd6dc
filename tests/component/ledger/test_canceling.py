"""Requests that are canceled while they are in a batch, which gives them back."""

from datetime import timedelta
from typing import Any

import boto3
import pytest

from autotune_platform.ledger.row_repository import RowRepository
from tests.component.ledger.test_jobs import MODELS, connect
from tests.component.ledger.test_journeys import assert_settled, statuses
from tests.support.ledger import Ledger, later


def cancel(ledger: Ledger, request_id: str) -> str:
    path = f"/api/v1/llm-requests/{request_id}/cancel"
    return str(ledger.platform.call("POST", path).json["request"]["status"])


def lock(ledger: Ledger) -> None:
    """Have the provider know no key of ours."""
    ledger.fake.world.keys["*"].pop("fake-key", None)
    ledger.fake.world.keys["compatible"] = {"another": "main"}


def test_a_canceled_row_of_a_batch_that_is_refused_ends(ledger: Ledger) -> None:
    ids = ledger.enqueue(ledger.connect(concurrency=1), "a", "b", "c")
    (state,) = ledger.started()
    left = ledger.step(state)
    assert cancel(ledger, ids[2]) == "submitted"
    lock(ledger)
    ledger.finish(left)
    assert [ledger.read(one)["status"] for one in ids] == ["queued", "queued", "canceled"]
    assert ledger.read(ids[2])["error"]["code"] == "canceled"
    (batch,) = ledger.batches()
    assert (batch["counts"]["canceled"], batch["counts"]["released"]) == (1, 2)
    assert_settled(ledger)


def test_a_canceled_row_of_a_job_that_is_refused_ends(ledger: Ledger) -> None:
    connection = connect(ledger, "openai", batches="always")
    ids = ledger.enqueue(connection, "a", "b", model=MODELS["openai"])
    (state,) = ledger.started()
    left = ledger.step(state)
    assert cancel(ledger, ids[0]) == "submitted"
    lock(ledger)
    ledger.finish(left)
    assert [ledger.read(one)["status"] for one in ids] == ["canceled", "queued"]
    assert_settled(ledger)


def test_a_row_that_is_canceled_while_it_goes_back_ends(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    (request_id,) = ledger.enqueue(ledger.connect(), "a")
    (state,) = ledger.started()
    left = ledger.step(state)
    lock(ledger)
    requeue = RowRepository.requeue

    def canceled_first(self: Any, *given: Any) -> Any:
        assert cancel(ledger, request_id) == "submitted"
        return requeue(self, *given)

    monkeypatch.setattr(RowRepository, "requeue", canceled_first)
    ledger.finish(left)
    assert ledger.read(request_id)["status"] == "canceled"
    assert_settled(ledger)


def test_a_row_that_is_canceled_while_it_fails_is_not_tried_again(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    (request_id,) = ledger.enqueue(ledger.connect(), "a")
    ledger.fake.world.traps.arm(name="chat_500", times=1)
    requeue = RowRepository.requeue

    def canceled_first(self: Any, *given: Any) -> Any:
        assert cancel(ledger, request_id) == "submitted"
        return requeue(self, *given)

    monkeypatch.setattr(RowRepository, "requeue", canceled_first)
    ledger.run()
    found = ledger.read(request_id)
    assert (found["status"], found["error"]["code"]) == ("canceled", "canceled")
    assert [one["error"]["code"] for one in found["attempts"]] == ["provider_error"]
    assert_settled(ledger)


def test_a_queued_row_is_canceled_whatever_was_asked_of_it_before(ledger: Ledger) -> None:
    ids = ledger.enqueue(ledger.connect(minRows=20), "a", "b")
    for request_id in ids:
        boto3.resource("dynamodb").Table("ledger").update_item(
            Key={"pk": request_id, "sk": "state"},
            UpdateExpression="SET cancel_requested_at = :then",
            ExpressionAttributeValues={":then": "2026-01-01T00:00:00Z"},
        )
    assert cancel(ledger, ids[0]) == "canceled"
    answer = ledger.platform.call("POST", "/api/v1/llm-requests/cancel", {"filter": {}})
    assert answer.json["requestIds"] == [ids[1]]
    with later(timedelta(hours=1)):
        ledger.sweep()
        ledger.run()
    assert statuses(ledger, ids) == {"canceled": 2}
