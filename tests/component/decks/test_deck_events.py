"""Webhooks hear how runs, edits and proposals of decks ended: once, and without a text."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.component.decks.test_edit_proposals import ProposingDeck
from tests.component.ledger.test_events import delivered
from tests.support.deck_edits import EditedDeck
from tests.support.ledger import Ledger
from tests.support.subscribers import Subscriber, loopback_subscriber


@pytest.fixture
def subscriber() -> Iterator[Subscriber]:
    with loopback_subscriber() as made:
        yield made


def subscribed(ledger: Ledger, subscriber: Subscriber, *types: str) -> str:
    """Subscribe to types of events; return the webhook's secret."""
    wish = {"url": subscriber.url, "eventTypes": list(types)}
    answer = ledger.platform.call("POST", "/api/v1/webhooks", wish)
    assert answer.status == 201, answer.text
    return str(answer.json["secret"])


def no_texts(events: list[dict[str, Any]], deck: EditedDeck) -> None:
    """Fail where an event is long, or has a token that stands in a sample."""
    for event in events:
        text = json.dumps(event)
        assert len(text) < 1_000
        assert not any(token in text for token in deck.tokens.values())


def test_the_end_of_a_run_is_published_with_its_counts(
    ledger: Ledger, subscriber: Subscriber
) -> None:
    deck = EditedDeck(ledger, number=4)
    secret = subscribed(ledger, subscriber, "deck.run.completed")
    started = deck.start()
    assert delivered(ledger.platform, subscriber, secret) == []
    run = deck.finish(started)
    events = delivered(ledger.platform, subscriber, secret)
    (event,) = events
    assert event["event"] == "deck.run.completed"
    assert event["data"] == {
        "deckId": deck.deck_id,
        "runId": run["id"],
        "kind": "grade",
        "status": "completed",
        "stoppedBecause": None,
        "counts": run["counts"],
        "proposed": None,
        "costNanoUsd": run["costNanoUsd"],
        "createdAt": run["createdAt"],
        "endedAt": run["endedAt"],
    }
    no_texts(events, deck)


def test_a_canceled_run_is_published_too(ledger: Ledger, subscriber: Subscriber) -> None:
    deck = EditedDeck(ledger, number=4)
    secret = subscribed(ledger, subscriber, "deck.run.completed")
    started = deck.start()
    path = f"{deck.path}/runs/{started['id']}/cancel"
    for _ in range(2):
        assert ledger.platform.call("POST", path).status in {200, 202}
    deck.finish(started)
    (event,) = delivered(ledger.platform, subscriber, secret)
    assert (event["data"]["runId"], event["data"]["status"]) == (started["id"], "canceled")


def test_a_measured_edit_is_published_for_each_half(ledger: Ledger, subscriber: Subscriber) -> None:
    deck = EditedDeck(ledger, number=150)
    deck.label(list(deck.samples))
    assert deck.finish(deck.start())["status"] == "completed"
    secret = subscribed(ledger, subscriber, "deck.edit.measured")
    edit = deck.measure("good")
    for _ in range(2):
        deck.edit(edit["id"])
    events = delivered(ledger.platform, subscriber, secret)
    found = {one["data"]["split"]: one["data"] for one in events}
    assert len(events) == 2, "each half once, however often it is read"
    assert found["development"]["editId"] == found["holdout"]["editId"] == edit["id"]
    assert found["development"]["delta"] == edit["trial"]["delta"]
    assert (found["development"]["look"], found["development"]["outcome"]) == (None, None)
    assert found["holdout"]["delta"] == edit["effect"]["delta"]
    assert found["holdout"]["outcome"] == edit["effect"]["outcome"]
    assert found["holdout"]["look"] == edit["look"] == 1
    no_texts(events, deck)


def test_the_end_of_a_proposal_is_published_once(ledger: Ledger, subscriber: Subscriber) -> None:
    deck = ProposingDeck(ledger)
    deck.model.proposer.edits = ["good"]
    secret = subscribed(ledger, subscriber, "deck.proposal.completed")
    assert deck.begin(samples=5).status == 202
    assert delivered(ledger.platform, subscriber, secret) == []
    found = deck.end()
    deck.look()
    events = delivered(ledger.platform, subscriber, secret)
    (event,) = events
    assert event["data"] == {
        "deckId": deck.deck_id,
        "graderId": deck.grader_id,
        "number": 1,
        "status": "completed",
        "failedBecause": None,
        "edits": len(found["editIds"]),
        "refused": len(found["refused"]),
        "costNanoUsd": found["costNanoUsd"],
        "createdAt": found["createdAt"],
        "endedAt": found["endedAt"],
    }
    no_texts(events, deck)
