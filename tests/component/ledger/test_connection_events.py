"""Webhooks hear that a connection is paused and that it goes on: once each, whatever is killed."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch

import pytest

from autotune_platform.ledger.connection_repository import ConnectionRepository
from autotune_platform.ledger.connections import pause
from autotune_platform.ledger.models import Connection
from autotune_platform.storage.table import Table
from autotune_platform.webhooks.outbox import EVENT_PREFIX
from functions.ledger import connections_api
from tests.component.ledger.test_events import KilledError, delivered
from tests.support.ledger import KEY, Ledger, later
from tests.support.subscribers import Subscriber, loopback_subscriber

PAUSED, RESUMED = "ledger.connection.paused", "ledger.connection.resumed"


@pytest.fixture
def subscriber() -> Iterator[Subscriber]:
    with loopback_subscriber() as made:
        yield made


@pytest.fixture
def secret(ledger: Ledger, subscriber: Subscriber) -> str:
    """The secret of a webhook for what becomes of connections."""
    wish = {"url": subscriber.url, "eventTypes": [PAUSED, RESUMED]}
    answer = ledger.platform.call("POST", "/api/v1/webhooks", wish)
    assert answer.status == 201, answer.text
    return str(answer.json["secret"])


def repository() -> ConnectionRepository:
    found: ConnectionRepository = connections_api.parts().connection_repository
    return found


def stored(connection_id: str) -> Connection:
    found = repository().get(connection_id)
    assert found is not None
    return found


def change(ledger: Ledger, connection_id: str, **fields: Any) -> int:
    path = f"/api/v1/llm-connections/{connection_id}"
    return ledger.platform.call("PATCH", path, fields).status


def work(ledger: Ledger, minutes: int) -> None:
    """Do all that is to be done for some minutes, one batch after the other."""
    for minute in range(minutes):
        with later(timedelta(minutes=minute)):
            ledger.sweep()
        ledger.run()


@contextmanager
def killed_at_an_event(*, after: bool) -> Iterator[None]:
    """Kill at the first transaction that stores an event, before or after it is done."""
    original = Table.transact
    killed: list[str] = []

    def transact(table: Table, writes: Any) -> list[int]:
        puts = [write for write in writes if hasattr(write, "item")]
        is_event = any(write.item["sk"].startswith(EVENT_PREFIX) for write in puts)
        strikes = is_event and not killed
        if strikes:
            killed.append(table.name)
        if strikes and not after:
            raise KilledError
        done = original(table, writes)
        if strikes:
            raise KilledError
        return done

    with patch.object(Table, "transact", transact):
        yield
    assert killed


def test_a_pause_is_published_once_however_many_batches_are_refused(
    ledger: Ledger, subscriber: Subscriber, secret: str
) -> None:
    connection = ledger.connect(maxRows=2, concurrency=32)
    ledger.fake.world.keys["*"].pop(KEY)
    ledger.fake.world.keys["compatible"] = {"another": "main"}
    ids = ledger.enqueue(connection, *map(str, range(10)))
    work(ledger, 4)
    paused = stored(connection)
    (event,) = delivered(ledger.platform, subscriber, secret)
    assert event["event"] == PAUSED
    assert event["data"] == {
        "connectionId": connection,
        "name": "fake",
        "provider": "simulated",
        "pausedBecause": paused.paused_because,
    }
    assert paused.paused_because
    assert KEY not in str(event)
    # It goes on by a change, and each further change is none of its status.
    assert change(ledger, connection, apiKey="another") == 200
    assert change(ledger, connection, name="renamed") == 200
    _, resumed = delivered(ledger.platform, subscriber, secret)
    assert resumed["event"] == RESUMED
    assert resumed["data"]["pausedBecause"] == paused.paused_because
    assert (resumed["data"]["connectionId"], resumed["data"]["name"]) == (connection, "fake")
    assert resumed["data"]["pausedAt"][:19] == event["timestamp"][:19]
    work(ledger, 6)
    assert {ledger.read(one)["status"] for one in ids} == {"completed"}
    assert len(delivered(ledger.platform, subscriber, secret)) == 2
    # The next pause is another.
    ledger.fake.world.keys["compatible"] = {}
    ledger.enqueue(connection, "more")
    work(ledger, 2)
    events = delivered(ledger.platform, subscriber, secret)
    assert [one["event"] for one in events] == [PAUSED, RESUMED, PAUSED]


def test_what_pauses_a_connection_that_is_paused_changes_nothing(
    ledger: Ledger, subscriber: Subscriber, secret: str
) -> None:
    connection = ledger.connect()
    as_read = stored(connection)
    for found in (as_read, as_read, stored(connection)):
        pause(repository(), found, "the first reason", datetime.now(UTC))
    paused = stored(connection)
    pause(repository(), paused, "a later reason", datetime.now(UTC))
    assert stored(connection) == paused
    assert paused.paused_because == "the first reason"
    assert len(delivered(ledger.platform, subscriber, secret)) == 1


def test_a_revoked_connection_is_not_published_as_paused_or_as_going_on(
    ledger: Ledger, subscriber: Subscriber, secret: str
) -> None:
    connection = ledger.connect()
    as_read = stored(connection)
    ledger.platform.call("DELETE", f"/api/v1/llm-connections/{connection}")
    pause(repository(), as_read, "too late", datetime.now(UTC))
    assert change(ledger, connection, name="renamed") == 409
    assert delivered(ledger.platform, subscriber, secret) == []


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_killed_process_leaves_status_and_event_together(
    ledger: Ledger, subscriber: Subscriber, secret: str, after: bool
) -> None:
    connection = ledger.connect()
    with killed_at_an_event(after=after), pytest.raises(KilledError):
        pause(repository(), stored(connection), "the key is wrong", datetime.now(UTC))
    assert stored(connection).status == ("paused" if after else "active")
    assert len(delivered(ledger.platform, subscriber, secret)) == after
    pause(repository(), stored(connection), "the key is wrong", datetime.now(UTC))
    with killed_at_an_event(after=after), pytest.raises(KilledError):
        change(ledger, connection, apiKey="another")
    assert stored(connection).status == ("active" if after else "paused")
    assert change(ledger, connection, apiKey="another") == 200
    # Both may be on their way at once, and then either comes first.
    events = delivered(ledger.platform, subscriber, secret)
    assert sorted(one["event"] for one in events) == [PAUSED, RESUMED]
