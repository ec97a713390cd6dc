"""Webhooks hear that an import has ended: once, however it ended and whatever is killed."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from tests.component.ledger.test_events import KilledError, delivered, killed_at_an_event
from tests.support.imports import Imports, jsonl, openai_line
from tests.support.ledger import Ledger, later
from tests.support.subscribers import Subscriber, loopback_subscriber


@pytest.fixture
def subscriber() -> Iterator[Subscriber]:
    with loopback_subscriber() as made:
        yield made


@pytest.fixture
def secret(ledger: Ledger, subscriber: Subscriber) -> str:
    """The secret of a webhook for the ends of imports."""
    wish = {"url": subscriber.url, "eventTypes": ["ledger.import.completed"]}
    answer = ledger.platform.call("POST", "/api/v1/webhooks", wish)
    assert answer.status == 201, answer.text
    return str(answer.json["secret"])


def heard(ledger: Ledger, subscriber: Subscriber, secret: str) -> dict[str, Any]:
    """Return the data of the one event that came."""
    (event,) = delivered(ledger.platform, subscriber, secret)
    data: dict[str, Any] = event["data"]
    return data


def test_the_end_is_published_with_its_counts(
    ledger: Ledger, imports: Imports, subscriber: Subscriber, secret: str
) -> None:
    connection = ledger.connect(minRows=100)
    lines = jsonl(openai_line("a"), openai_line("b", max_tokens=0), openai_line("c"))
    made = imports.start(connection, lines)
    assert delivered(ledger.platform, subscriber, secret) == []
    found = imports.run(made)
    data = heard(ledger, subscriber, secret)
    assert data == {
        "importId": made,
        "state": "completed",
        "errorCode": None,
        "connectionId": connection,
        "purpose": "scoring",
        "counts": {"lines": 3, "bytes": len(lines), "enqueued": 2, "rejected": 1},
        "createdAt": found["createdAt"],
        "completedAt": found["completedAt"],
    }


def test_an_import_that_fails_is_published_with_its_reason(
    ledger: Ledger, imports: Imports, subscriber: Subscriber, secret: str
) -> None:
    lines = jsonl(openai_line(max_tokens=0))
    made = imports.start(ledger.connect(), lines, onError="rejectAll")
    imports.run(made)
    data = heard(ledger, subscriber, secret)
    assert (data["state"], data["errorCode"]) == ("failed", "lines_rejected")
    assert data["counts"]["rejected"] == 1


def test_a_canceled_import_is_published_and_one_that_never_began_is_not(
    ledger: Ledger, imports: Imports, subscriber: Subscriber, secret: str
) -> None:
    connection, content = ledger.connect(), jsonl(openai_line())
    never = imports.create(connection, content).json["import"]["id"]
    begun = imports.start(connection, content)
    for one in (never, begun, begun):
        assert imports.call("DELETE", one).status == 204
    data = heard(ledger, subscriber, secret)
    assert (data["importId"], data["state"]) == (begun, "canceled")


@pytest.mark.parametrize("after", [False, True])
def test_it_comes_once_when_the_step_is_killed_at_it(
    ledger: Ledger, imports: Imports, subscriber: Subscriber, secret: str, after: bool
) -> None:
    made = imports.start(ledger.connect(minRows=100), jsonl(openai_line()))
    with killed_at_an_event(after=after), pytest.raises(KilledError):
        imports.run(made)
    imports.run(made)
    with later(timedelta(hours=1)):
        ledger.sweep()
    assert heard(ledger, subscriber, secret)["state"] == "completed"
