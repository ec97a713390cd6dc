"""Looks at a job that are refused: a person hears of it, and nothing is given up too early."""

from datetime import timedelta
from importlib import import_module
from typing import Any

import pytest

from autotune.protocol.llm_filters import LlmBatchFilter
from autotune_platform.ledger.batching import polling
from autotune_platform.ledger.connection_repository import ConnectionRepository
from autotune_platform.ledger.unclear import WAITS_FOR_OPERATOR
from autotune_platform.runtime import clients
from autotune_platform.storage.table import Table
from tests.component.ledger.test_connections_changing import caller_of
from tests.component.ledger.test_jobs import assert_paid_once, connect, enqueue
from tests.component.ledger.test_unclear_creations import events_of, listed, wait
from tests.support.ledger import Ledger, later


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What the log said of batches that wait, in the words that the alarm counts."""
    lines: list[dict[str, Any]] = []

    def error(message: str, **fields: Any) -> None:
        if message == WAITS_FOR_OPERATOR:
            lines.append(fields)

    monkeypatch.setattr(polling.logger, "error", error)
    return lines


def waiting(ledger: Ledger) -> list[str]:
    """The batches that wait for an operator by now."""
    (batch,) = ledger.batches()
    connection = ConnectionRepository(Table("registry", clients.dynamodb())).get(
        batch["connectionId"]
    )
    assert connection is not None
    service = import_module("functions.ledger.batches_api").parts().batches
    with later(timedelta(seconds=ledger.passed)):
        waits = LlmBatchFilter(needs_operator=True)
        found, _ = service.page(caller_of(connection), waits, limit=10, next_token=None)
    return [one.id for one in found]


def refuse(ledger: Ledger, *, times: int | None = None) -> None:
    ledger.fake.world.traps.arm(name="get_500", times=times, params={"status": 500})


def test_looks_that_are_refused_for_hours_call_a_person_and_results_come_home_all_the_same(
    ledger: Ledger, said: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autotune_platform.ledger.unclear.REFUSED_TOO_LONG", timedelta(hours=2))
    refuse(ledger)
    ids = enqueue(ledger, "openai", count=2)
    wait(ledger, hours=1.5)
    assert said == []
    wait(ledger, hours=1.5)
    # At least one look in each quarter of an hour: the alarm stays for as long as it waits.
    assert len(said) >= 3
    (batch,) = ledger.batches()
    assert waiting(ledger) == [batch["id"]]
    assert {one["batch_id"] for one in said} == {batch["id"]}
    assert {one["job_id"] for one in said} == {batch["job"]["id"]}
    assert {one["code"] for one in said} == {"provider_error"}
    assert batch["job"]["stage"] == "polling"
    (event,) = events_of(batch["id"])
    assert (event["data"]["stage"], event["data"]["jobId"]) == ("polling", batch["job"]["id"])
    ledger.fake.world.traps.disarm()
    said.clear()
    ledger.run_jobs()
    assert listed(ledger) == said == []
    assert_paid_once(ledger, ids)


def test_a_look_that_succeeds_begins_the_patience_anew(
    ledger: Ledger, said: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autotune_platform.ledger.unclear.REFUSED_TOO_LONG", timedelta(minutes=30))
    ledger.fake.world.timing.run_seconds = 3_600 * 3
    ids = enqueue(ledger, "openai", count=2)
    for _ in range(3):
        refuse(ledger, times=2)
        wait(ledger, hours=0.6)
    ledger.run_jobs()
    assert said == []
    assert_paid_once(ledger, ids)


def test_rows_are_given_up_only_after_the_last_provider_has_no_results_any_more(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert timedelta(days=29) < polling.GIVEN_UP_AFTER
    monkeypatch.setattr(polling, "GIVEN_UP_AFTER", timedelta(hours=3))
    monkeypatch.setattr("autotune_platform.ledger.unclear.REFUSED_TOO_LONG", timedelta(hours=1))
    refuse(ledger)
    (one,) = enqueue(ledger, "openai", count=1)
    wait(ledger, hours=2.5)
    assert ledger.read(one)["status"] == "submitted"
    wait(ledger, hours=1.5)
    found = ledger.read(one)
    # It may have been paid: that is charged at its bound, and it is asked once more.
    assert found["attempts"][0]["error"]["code"] == "result_missing"
    assert found["costNanoUsd"] > 0
    ledger.fake.world.traps.disarm()
    ledger.run_jobs()
    assert ledger.read(one)["status"] == "completed"


def test_a_job_whose_key_is_gone_is_looked_at_with_the_one_in_its_place(ledger: Ledger) -> None:
    ledger.fake.world.timing.run_seconds = 3_600
    connection = connect(ledger, "openai")
    ids = ledger.enqueue(connection, "q 1", "q 2", model="gpt-5-mini")
    wait(ledger, hours=0.5)
    ledger.platform.call("PATCH", f"/api/v1/llm-connections/{connection}", {"apiKey": "fake-key-2"})
    del ledger.fake.world.keys["*"]["fake-key"]
    ledger.run_jobs()
    assert {ledger.read(one)["status"] for one in ids} == {"completed"}
    shown = ledger.platform.call("GET", f"/api/v1/llm-connections/{connection}").json
    assert shown["connection"]["status"] == "active"
    assert_paid_once(ledger, ids)
