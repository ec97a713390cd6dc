"""``completeBy``: what waits then ends, whatever its queue waits for."""

from datetime import timedelta
from typing import Any

import boto3
import pytest

from autotune_platform.ledger import queue_ending
from autotune_platform.runtime.clock import Clock
from tests.component.ledger.test_journeys import assert_settled, statuses
from tests.support.ledger import Ledger, in_one, later


def soon(minutes: float = 10) -> dict[str, str]:
    return {"completeBy": (Clock().now() + timedelta(minutes=minutes)).isoformat()}


def let_pass(ledger: Ledger, minutes: float) -> None:
    with later(timedelta(minutes=minutes)):
        ledger.sweep()
        ledger.run()


def pause(ledger: Ledger, connection: str) -> None:
    """Have the provider refuse the account, which pauses the connection."""
    ledger.fake.world.keys["*"].pop("fake-key", None)
    ledger.fake.world.keys["compatible"] = {"another": "main"}
    ledger.enqueue(connection, "refused")
    ledger.run()
    path = f"/api/v1/llm-connections/{connection}"
    assert ledger.platform.call("GET", path).json["connection"]["status"] == "paused"


def queue_items() -> list[dict[str, Any]]:
    items = boto3.resource("dynamodb").Table("ledger").scan(ConsistentRead=True)["Items"]
    return [one for one in items if "queue_shard" in one]


def test_rows_of_a_paused_connection_end_when_they_are_late(ledger: Ledger) -> None:
    connection = ledger.connect()
    pause(ledger, connection)
    late = ledger.enqueue(connection, "a", "b", **soon())
    (patient,) = ledger.enqueue(connection, "c", **soon(600))
    ledger.run()
    assert statuses(ledger, late) == {"queued": 2}
    let_pass(ledger, 16)
    assert {ledger.read(one)["error"]["code"] for one in late} == {"expired"}
    assert ledger.read(patient)["status"] == "queued"


@in_one("day")
def test_rows_behind_one_without_money_end_when_they_are_late(ledger: Ledger) -> None:
    connection = ledger.connect(maxRows=2)
    limits = {"dayUsd": "0.00006"}
    assert ledger.platform.call("PUT", "/api/v1/llm-budget", limits).status == 200
    (first,) = ledger.enqueue(connection, "a")
    ledger.run()
    assert ledger.read(first)["status"] == "completed"
    limits = {"dayUsd": "0.000055"}
    assert ledger.platform.call("PUT", "/api/v1/llm-budget", limits).status == 200
    (blocked,) = ledger.enqueue(connection, "b")
    late = ledger.enqueue(connection, "c", "d", **soon())
    ledger.run()
    assert statuses(ledger, [blocked, *late]) == {"queued": 3}
    let_pass(ledger, 12)
    assert {ledger.read(one)["error"]["code"] for one in late} == {"expired"}
    assert ledger.read(blocked)["status"] == "queued"


def test_many_late_rows_end_a_few_at_a_time(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = ledger.connect()
    pause(ledger, connection)
    late = ledger.enqueue(connection, *(f"q{n}" for n in range(30)), **soon())
    ledger.run()
    monkeypatch.setattr(queue_ending, "_LATE_AT_ONCE", 3)
    let_pass(ledger, 16)
    assert 3 <= statuses(ledger, late)["error"] <= 12
    for minutes in range(18, 30):
        let_pass(ledger, minutes)
    assert statuses(ledger, late) == {"error": 30}
    assert [one["sk"] for one in queue_items()] == ["state"]  # of the one that was refused


def test_a_late_row_that_its_batch_gives_back_ends(ledger: Ledger) -> None:
    connection = ledger.connect()
    (late,) = ledger.enqueue(connection, "a", **soon())
    (state,) = ledger.started()
    left = ledger.step(state)
    ledger.fake.world.traps.arm(name="chat_500", times=1)
    with later(timedelta(minutes=9, seconds=59)):
        ledger.finish(left)
    assert ledger.read(late)["status"] == "queued"
    let_pass(ledger, 11)
    found = ledger.read(late)
    assert (found["status"], found["error"]["code"]) == ("error", "expired")
    assert [one["error"]["code"] for one in found["attempts"]] == ["provider_error"]
    assert_settled(ledger)


def test_a_row_of_a_batch_that_is_put_back_late_ends(ledger: Ledger) -> None:
    connection = ledger.connect(concurrency=1)
    (first,) = ledger.enqueue(connection, "a", priority="high")
    (late,) = ledger.enqueue(connection, "b", **soon())
    # The second row starts an execution of its own where it comes a second after the first.
    state, *_ = ledger.started()
    left = ledger.step(state)
    ledger.fake.world.keys["*"].pop("fake-key")
    ledger.fake.world.keys["compatible"] = {"another": "main"}
    with later(timedelta(minutes=11)):
        ledger.finish(left)
    assert ledger.read(first)["status"] == "queued"
    assert ledger.read(late)["error"]["code"] == "expired"


def test_a_row_without_such_a_time_costs_no_item_more(ledger: Ledger) -> None:
    connection = ledger.connect()
    ledger.enqueue(connection, "a")
    assert [one["sk"] for one in queue_items()] == ["state"]
    ledger.enqueue(connection, "b", **soon(600))
    assert sorted(one["sk"] for one in queue_items()) == ["deadline", "state", "state"]
