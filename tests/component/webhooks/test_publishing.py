"""Each webhook that wants an event gets one delivery of it, however often it is published."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from autotune.protocol.ids import derived_id, new_id
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment.webhooks import WebhookEnvironment
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.storage.table import Table
from autotune_platform.storage.versioned_states import VersionedStates
from autotune_platform.webhooks.drains import CALL_SECONDS, Drain, drain_key
from autotune_platform.webhooks.models import Event, Webhook
from autotune_platform.webhooks.publisher import EventPublisher
from autotune_platform.webhooks.repository import WebhookRepository
from autotune_platform.webhooks.waking import WakeQueue
from autotune_platform.wiring.publishing import PublisherParts
from tests.support.clock import TurnedClock
from tests.support.platform import Platform

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
ORGANIZATION = new_id("org")


def event(name: str = "one", **changes: Any) -> Event:
    fields = {
        "id": derived_id("evt", name),
        "type": "score.completed",
        "organization_id": ORGANIZATION,
        "occurred_at": NOW,
        "data": {"completionId": name, "text": "grün"},
    }
    return Event(**{**fields, **changes})


def webhook(**changes: Any) -> Webhook:
    fields = {
        "id": new_id("whk"),
        "organization_id": ORGANIZATION,
        "url": "http://127.0.0.1:1",
        "event_types": "all",
        "description": "",
        "created_at": NOW,
        "updated_at": NOW,
    }
    made = Webhook(**{**fields, **changes})
    WebhookRepository(Table("registry", clients.dynamodb())).add(made)
    return made


def publisher(*, seconds_later: float = 0) -> EventPublisher:
    made = PublisherParts(WebhookEnvironment.parse()).publisher
    made.clock = TurnedClock(timedelta(seconds=seconds_later))
    return made


def deliveries(made: Webhook) -> list[dict[str, Any]]:
    return Table("deliveries", clients.dynamodb()).query(made.id, starting="evt_").items


def test_every_webhook_that_wants_an_event_gets_it(platform: Platform) -> None:
    all_events = webhook()
    scores = webhook(event_types=("score.completed", "batch.completed"))
    others = [
        webhook(event_types=("grader.status_changed",)),
        webhook(status="disabled"),
        webhook(created_at=NOW + timedelta(seconds=1)),
        webhook(organization_id=new_id("org")),
    ]
    publisher().publish([event()])
    for made in (all_events, scores):
        (delivery,) = deliveries(made)
        assert delivery["sk"] == event().id
        assert delivery["body"] == (
            '{"event":"score.completed","timestamp":"2026-11-21T12:00:00.000Z",'
            '"data":{"completionId":"one","text":"grün"}}'
        )
    assert [deliveries(made) for made in others] == [[], [], [], []]
    woken = {message["body"] for message in platform.queued("webhooks")}
    assert {made.id in body for made in (all_events, scores) for body in woken} == {True, False}
    assert len(woken) == 2


def test_publishing_again_changes_no_delivery_and_wakes_again(platform: Platform) -> None:
    made = webhook()
    publisher().publish([event()])
    Table("deliveries", clients.dynamodb()).update(made.id, event().id, {"status": "delivered"})
    platform.queued("webhooks")
    publisher(seconds_later=CALL_SECONDS).publish([event(), event("two")])
    assert {item["sk"]: item["status"] for item in deliveries(made)} == {
        event().id: "delivered",
        event("two").id: "pending",
    }
    assert len(platform.queued("webhooks")) == 1


def test_an_event_is_woken_for_even_if_its_first_publisher_died_before_that(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = webhook()

    def die(*_: object, **__: object) -> None:
        raise UnavailableError("killed between the delivery and its wake-up")

    with monkeypatch.context() as killed:
        killed.setattr(WakeQueue, "wake", die)
        with pytest.raises(UnavailableError):
            publisher().publish([event()])
    assert len(deliveries(made)) == 1
    assert platform.queued("webhooks") == []
    publisher(seconds_later=CALL_SECONDS).publish([event()])
    assert len(deliveries(made)) == 1
    assert len(platform.queued("webhooks")) == 1


def test_one_message_wakes_for_all_that_is_published_before_it_arrives(platform: Platform) -> None:
    webhook()
    for number in range(20):
        publisher().publish([event(str(number))])
    assert len(platform.queued("webhooks")) == 1


def test_whoever_drains_is_left_word_and_sent_no_message(platform: Platform) -> None:
    made = webhook()
    drains = VersionedStates(Table("deliveries", clients.dynamodb()), kept_seconds=60)
    now = datetime.now(UTC).timestamp()
    drains.change(
        drain_key(made.id), Drain, now, lambda drain: drain.taken("another", now, seconds=60)
    )
    publisher().publish([event()])
    assert platform.queued("webhooks") == []
    assert drains.read(drain_key(made.id), Drain).woken


def test_a_write_that_fails_is_told(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    webhook()
    monkeypatch.setenv("DELIVERIES_TABLE", "elsewhere")
    with pytest.raises(clients.dynamodb().exceptions.ResourceNotFoundException):
        publisher().publish([event()])
    assert platform.queued("webhooks") == []


def test_an_organisation_without_webhooks_costs_one_read(
    platform: Platform, count_calls: Callable[[], list[str]]
) -> None:
    calls = count_calls()
    publisher().publish([event(str(number)) for number in range(100)])
    assert calls == ["Query"]
    assert platform.queued("webhooks") == []
