"""Webhooks hear that batches ended and budgets are used up: once, whatever is killed."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import boto3
import pytest

from autotune.protocol.ids import derived_id
from autotune_platform.storage.table import Table
from autotune_platform.webhooks.outbox import EVENT_PREFIX
from functions.ledger import connections_api
from tests.support.ledger import MODEL, Ledger, later
from tests.support.platform import Platform
from tests.support.subscribers import Subscriber, loopback_subscriber

TYPES = ["ledger.batch.completed", "budget.exhausted"]


class KilledError(BaseException):
    """The process is gone: nothing catches it."""


@pytest.fixture
def subscriber() -> Iterator[Subscriber]:
    with loopback_subscriber() as made:
        yield made


def subscribe(platform: Platform, subscriber: Subscriber) -> str:
    """Make a webhook for the ledger's events; return its secret."""
    wish = {"url": subscriber.url, "eventTypes": TYPES}
    answer = platform.call("POST", "/api/v1/webhooks", wish)
    assert answer.status == 201, answer.text
    return str(answer.json["secret"])


def delivered(platform: Platform, subscriber: Subscriber, secret: str) -> list[dict[str, Any]]:
    """Follow the streams twice, as they may; return all events that came so far."""
    for _ in range(2):
        platform.publish_events()
        platform.deliver()
    assert len(set(subscriber.event_ids)) == len(subscriber.event_ids), "one came twice"
    return [received.verified(secret) for received in subscriber.received]


@contextmanager
def killed_at_an_event(*, after: bool) -> Iterator[list[str]]:
    """Kill at the first write of an event, before or after it is done."""
    written: list[str] = []
    original = Table.add_together

    def add_together(table: Table, additions: Any) -> bool:
        events = [one.sk for one in additions if one.sk.startswith(EVENT_PREFIX)]
        is_first = bool(events) and not written
        written.extend(events)
        if is_first and not after:
            raise KilledError
        done = original(table, additions)
        if is_first:
            raise KilledError
        return done

    with patch.object(Table, "add_together", add_together):
        yield written


def stored() -> list[str]:
    items = boto3.client("dynamodb").scan(TableName="ledger", ConsistentRead=True)["Items"]
    return [one["id"]["S"] for one in items if one["sk"]["S"].startswith(EVENT_PREFIX)]


def test_the_end_of_a_batch_is_published_with_its_counts_and_cost(
    ledger: Ledger, subscriber: Subscriber
) -> None:
    secret = subscribe(ledger.platform, subscriber)
    connection = ledger.connect(maxRows=2)
    ledger.enqueue(connection, "a", "b", "c")
    ledger.run()
    batches = {one["id"]: one for one in ledger.batches()}
    assert len(batches) == 2
    events = delivered(ledger.platform, subscriber, secret)
    assert [one["event"] for one in events] == ["ledger.batch.completed"] * 2
    assert {one["data"]["batchId"] for one in events} == batches.keys()
    for event in events:
        batch = batches[event["data"]["batchId"]]
        shown = {name: batch[name] for name in event["data"] if name != "batchId"}
        assert event["data"] == {"batchId": batch["id"], **shown}
        assert event["data"]["status"] == "completed"
        assert event["data"]["costNanoUsd"] > 0
    assert {one["data"]["counts"]["completed"] for one in events} == {1, 2}


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_step_that_is_killed_as_it_settles_publishes_once_all_the_same(
    ledger: Ledger, subscriber: Subscriber, after: bool
) -> None:
    secret = subscribe(ledger.platform, subscriber)
    ledger.enqueue(ledger.connect(), "a")
    with killed_at_an_event(after=after) as written:
        (state,) = ledger.started()
        with pytest.raises(KilledError):
            ledger.finish(ledger.step(state))
        (batch,) = ledger.batches()
        # Either the batch has not ended and nothing says so, or both are stored.
        assert (batch["status"] == "completed") is after
        assert len(stored()) == after
        early = delivered(ledger.platform, subscriber, secret)
        ledger.run_jobs(killed_by=KilledError)
        for _ in range(3):
            with later(timedelta(hours=1)):
                ledger.sweep()
            ledger.run()
    assert stored() == [derived_id("evt", "ledger.batch.completed", batch["id"])]
    assert len(written) == (1 if after else 2)
    events = delivered(ledger.platform, subscriber, secret)
    assert len(early) == after
    (event,) = events
    (batch,) = ledger.batches()
    assert event["data"]["costNanoUsd"] == batch["costNanoUsd"] > 0


def test_a_batch_that_is_canceled_says_so(ledger: Ledger, subscriber: Subscriber) -> None:
    secret = subscribe(ledger.platform, subscriber)
    ledger.enqueue(ledger.connect(), "a", "b")
    (state,) = ledger.started()
    state = ledger.step(state)
    (batch,) = ledger.batches()
    ledger.platform.call("POST", f"/api/v1/llm-batches/{batch['id']}/cancel")
    ledger.finish(state)
    (event,) = delivered(ledger.platform, subscriber, secret)
    assert (event["data"]["status"], event["data"]["costNanoUsd"]) == ("canceled", 0)
    assert event["data"]["counts"]["canceled"] == 2


def limit(ledger: Ledger, **limits: str) -> None:
    assert ledger.platform.call("PUT", "/api/v1/llm-budget", limits).status == 200


def verify(ledger: Ledger, connection: str) -> int:
    """Ask a model once, which reserves money; return the status."""
    path = f"/api/v1/llm-connections/{connection}/verify"
    return ledger.platform.call("POST", path, {"model": MODEL}).status


def test_a_budget_without_room_is_published_once_a_period(
    ledger: Ledger, subscriber: Subscriber
) -> None:
    secret = subscribe(ledger.platform, subscriber)
    connection = ledger.connect()
    limit(ledger, dayUsd="0.000000001", monthUsd="1000")
    assert [verify(ledger, connection) for _ in range(3)] == [402, 402, 402]
    (event,) = delivered(ledger.platform, subscriber, secret)
    day = ledger.budget()["day"]
    assert event["event"] == "budget.exhausted"
    assert event["data"] == {"scope": "organization", **day}
    # More money, and none again, on the same day: it was said.
    limit(ledger, dayUsd="1000")
    assert verify(ledger, connection) == 200
    limit(ledger, dayUsd="0.000000001")
    assert verify(ledger, connection) == 402
    assert len(delivered(ledger.platform, subscriber, secret)) == 1
    # The month is a budget of its own.
    limit(ledger, monthUsd="0.000000001")
    assert verify(ledger, connection) == 402
    *_, month = delivered(ledger.platform, subscriber, secret)
    used = ledger.budget()["month"]
    assert month["data"] == {"scope": "organization", **used}
    assert month["data"]["spentNanoUsd"] > 0


def test_a_queue_that_a_budget_has_no_room_for_says_so_once(
    ledger: Ledger, subscriber: Subscriber
) -> None:
    secret = subscribe(ledger.platform, subscriber)
    ledger.enqueue(ledger.connect(), "a")
    limit(ledger, dayUsd="0.000000001")
    ledger.run()
    for minutes in range(1, 4):
        with later(timedelta(minutes=5 * minutes)):
            ledger.sweep()
        ledger.run()
    (event,) = delivered(ledger.platform, subscriber, secret)
    assert event["event"] == "budget.exhausted"
    assert event["data"] == {"scope": "organization", **ledger.budget()["day"]}


def test_the_next_day_is_another_budget(platform: Platform, ledger: Ledger) -> None:
    money = connections_api.parts().money
    organization = platform.me()["organizationId"]
    limit(ledger, dayUsd="0.000000001")
    for days in range(3):
        with later(timedelta(days=days)):
            for _ in range(2):
                money.refused(organization)
    assert len(stored()) == len(set(stored())) == 3


def test_without_a_limit_nothing_is_used_up(platform: Platform) -> None:
    connections_api.parts().money.refused(platform.me()["organizationId"])
    assert stored() == []


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_call_that_is_killed_as_it_is_refused_publishes_once_all_the_same(
    ledger: Ledger, subscriber: Subscriber, after: bool
) -> None:
    secret = subscribe(ledger.platform, subscriber)
    connection = ledger.connect()
    limit(ledger, weekUsd="0.000000001")
    with killed_at_an_event(after=after):
        with pytest.raises(KilledError):
            verify(ledger, connection)
        assert len(stored()) == after
        assert verify(ledger, connection) == 402
    (event,) = delivered(ledger.platform, subscriber, secret)
    assert event["data"]["period"] == "week"
