"""Deliveries are listed and sent again."""

from itertools import chain
from typing import Any

import pytest

from autotune_platform.webhooks import history
from tests.component.webhooks.conftest import drain, publish, subscribe
from tests.support.platform import Platform
from tests.support.subscribers import Subscriber


def test_deliveries_are_listed_newest_first_in_pages(
    platform: Platform, subscriber: Subscriber
) -> None:
    subscription = subscribe(platform, subscriber)
    events = publish(platform, 7)
    query: dict[str, Any] = {"limit": 3}
    pages = []
    while True:
        page = platform.call("GET", f"{subscription.path}/deliveries", query=query).json
        pages.append([one["eventId"] for one in page["deliveries"]])
        if page["nextToken"] is None:
            break
        query["nextToken"] = page["nextToken"]
    assert [len(page) for page in pages] == [3, 3, 1]
    assert list(chain(*pages)) == [event.id for event in reversed(events)]


def test_deliveries_are_listed_by_status_however_few_there_are(
    platform: Platform, subscriber: Subscriber, monkeypatch: pytest.MonkeyPatch
) -> None:
    subscription = subscribe(platform, subscriber)
    old = publish(platform, 2)
    subscriber.answers(410)
    platform.deliver()
    platform.call("PATCH", subscription.path, {"status": "active"})
    subscriber.answers(200)
    publish(platform, 5)
    platform.deliver()
    assert len(subscription.deliveries(status="delivered")) == 5
    assert subscription.deliveries(status="pending") == []
    monkeypatch.setattr(history, "_MOST_EXAMINED", 4)
    path = f"{subscription.path}/deliveries"
    first = platform.call("GET", path, query={"status": "failed"}).json
    assert first["deliveries"] == []
    query = {"status": "failed", "nextToken": first["nextToken"]}
    second = platform.call("GET", path, query=query).json
    assert {one["eventId"] for one in second["deliveries"]} == {event.id for event in old}
    assert second["nextToken"] is None


def test_a_replay_sends_the_same_event_again(platform: Platform, subscriber: Subscriber) -> None:
    subscription = subscribe(platform, subscriber)
    (event,) = publish(platform)
    platform.deliver()
    replayed = platform.call("POST", f"{subscription.path}/deliveries/{event.id}/replay")
    assert replayed.status == 202
    delivery = replayed.json["delivery"]
    assert (delivery["status"], delivery["attempts"]) == ("pending", 0)
    platform.deliver()
    first, second = subscriber.received
    assert first.event_id == second.event_id == event.id
    assert first.body == second.body
    assert second.verified(subscription.secret)["data"] == {"number": 0}
    assert subscription.delivery(event)["attempts"] == 1


def test_a_failed_delivery_is_replayed_with_all_its_attempts(
    platform: Platform, subscriber: Subscriber, wakes: list[int], clock: Any
) -> None:
    subscriber.answers(500)
    subscription = subscribe(platform, subscriber)
    (event,) = publish(platform)
    for _ in range(7):
        drain(subscription)
        clock.turn(hours=11)
    assert subscription.delivery(event)["status"] == "failed"
    platform.call("POST", f"{subscription.path}/deliveries/{event.id}/replay")
    drain(subscription)
    delivery = subscription.delivery(event)
    assert (delivery["status"], delivery["attempts"]) == ("pending", 1)
    assert len(subscriber.received) == 8


def test_nothing_is_replayed_to_a_disabled_webhook(
    platform: Platform, subscriber: Subscriber
) -> None:
    subscription = subscribe(platform, subscriber)
    (event,) = publish(platform)
    platform.deliver()
    platform.call("PATCH", subscription.path, {"status": "disabled"})
    answer = platform.call("POST", f"{subscription.path}/deliveries/{event.id}/replay")
    assert (answer.status, answer.json["code"]) == (409, "conflict")
    assert "active" in answer.json["detail"]
    platform.deliver()
    assert len(subscriber.received) == 1
