"""What is due is sent, signed and tried again on schedule, until it arrives or is given up."""

import json

import pytest

from autotune_platform.runtime import clients
from autotune_platform.storage.table import Table
from autotune_platform.webhooks import sending
from autotune_platform.webhooks.delivering import RETRY_DELAYS
from autotune_platform.webhooks.repository import DeliveryRepository
from functions.webhooks import deliver_events, sweep_deliveries
from tests.component.webhooks.conftest import drain, publish, subscribe
from tests.support.clock import StandingClock
from tests.support.lambdas import LambdaContext
from tests.support.platform import Platform
from tests.support.subscribers import Received, Reply, Subscriber, loopback_subscriber


def test_an_event_arrives_signed_as_standard_webhooks_says(
    platform: Platform, subscriber: Subscriber
) -> None:
    subscription = subscribe(platform, subscriber)
    (event,) = publish(platform)
    platform.deliver()
    (received,) = subscriber.received
    told = received.verified(subscription.secret)
    assert (told["event"], told["data"]) == ("score.completed", {"number": 0})
    assert told["timestamp"].endswith("Z")
    assert received.event_id == event.id
    assert received.headers["content-type"] == "application/json"
    assert received.headers["user-agent"] == "autotune"
    delivery = subscription.delivery(event)
    assert (delivery["status"], delivery["attempts"]) == ("delivered", 1)
    assert (delivery["lastStatus"], delivery["lastError"]) == (200, None)
    assert delivery["nextAttemptAt"] is None
    assert json.loads(delivery["body"]) == told
    assert platform.deliver() == 0


def test_every_event_of_a_backlog_is_sent_once(platform: Platform, subscriber: Subscriber) -> None:
    subscription = subscribe(platform, subscriber)
    events = publish(platform, 80)  # more than a page of the index
    platform.deliver()
    assert sorted(subscriber.event_ids) == sorted(event.id for event in events)
    assert {one["status"] for one in subscription.deliveries(limit=200)} == {"delivered"}


@pytest.mark.parametrize(
    ("reply", "status", "error"),
    [
        (Reply(500), 500, "rejected"),
        (Reply(404), 404, "rejected"),
        (Reply(302, {"location": "http://127.0.0.1:1/"}), 302, "redirected"),
        (Reply(drop=True), None, "unreachable"),
        (Reply(drip_headers_seconds=0.05), None, "timed_out"),
    ],
)
def test_a_failure_is_told_and_tried_again(
    platform: Platform,
    subscriber: Subscriber,
    monkeypatch: pytest.MonkeyPatch,
    wakes: list[int],
    reply: Reply,
    status: int | None,
    error: str,
) -> None:
    monkeypatch.setattr(sending, "_ANSWER_SECONDS", 0.5)
    subscriber.reply = lambda _: reply
    subscription = subscribe(platform, subscriber)
    (event,) = publish(platform)
    drain(subscription)
    delivery = subscription.delivery(event)
    assert (delivery["status"], delivery["attempts"]) == ("pending", 1)
    assert (delivery["lastStatus"], delivery["lastError"]) == (status, error)
    assert subscription.shown["failingSince"] is not None
    assert len(subscriber.received) == 1
    assert wakes[-1] == 5


@pytest.mark.parametrize(
    "reply",
    [
        Reply(204, body=b""),
        Reply(201, body=b"x" * 100_000),
        Reply(200, drip_body_seconds=0.05, body=b"x" * 100),
    ],
)
def test_any_2xx_is_a_delivery_whatever_follows_it(
    platform: Platform, subscriber: Subscriber, monkeypatch: pytest.MonkeyPatch, reply: Reply
) -> None:
    monkeypatch.setattr(sending, "_BODY_SECONDS", 0.2)
    subscriber.reply = lambda _: reply
    subscription = subscribe(platform, subscriber)
    (event,) = publish(platform)
    platform.deliver()
    assert subscription.delivery(event)["status"] == "delivered"


def test_attempts_follow_the_schedule_under_one_id_and_end(
    platform: Platform, subscriber: Subscriber, clock: StandingClock, wakes: list[int]
) -> None:
    subscriber.answers(500)
    subscription = subscribe(platform, subscriber)
    (event,) = publish(platform)
    wakes.clear()
    for number, delay in enumerate(RETRY_DELAYS, start=1):
        drain(subscription)
        assert len(subscriber.received) == number
        assert wakes.pop() == min(900, round(delay.total_seconds()))
        clock.turn(seconds=delay.total_seconds() - 1)
        drain(subscription)
        assert len(subscriber.received) == number
        clock.turn(seconds=1)
        wakes.clear()
    drain(subscription)
    assert subscriber.event_ids == [event.id] * 7
    assert len({one.body for one in subscriber.received}) == 1
    delivery = subscription.delivery(event)
    assert (delivery["status"], delivery["attempts"]) == ("failed", 7)
    assert delivery["lastError"] == "rejected"
    assert wakes == []
    assert subscription.shown["status"] == "active"


def test_a_success_ends_the_time_of_failing(
    platform: Platform, subscriber: Subscriber, clock: StandingClock, wakes: list[int]
) -> None:
    subscriber.answers(503)
    subscription = subscribe(platform, subscriber)
    (event,) = publish(platform)
    drain(subscription)
    assert subscription.shown["failingSince"] is not None
    subscriber.answers(200)
    clock.turn(seconds=5)
    drain(subscription)
    assert subscription.delivery(event)["status"] == "delivered"
    assert subscription.shown["failingSince"] is None


def test_a_webhook_that_fails_for_five_days_is_disabled_with_all_that_is_pending(
    platform: Platform, subscriber: Subscriber, clock: StandingClock, wakes: list[int]
) -> None:
    subscriber.answers(500)
    subscription = subscribe(platform, subscriber)
    first, second = publish(platform, 2)
    drain(subscription)
    clock.turn(days=5, seconds=-1)
    drain(subscription)
    assert subscription.shown["status"] == "active"
    clock.turn(hours=10)
    drain(subscription)
    shown = subscription.shown
    assert (shown["status"], shown["disabledReason"]) == ("disabled", "failing")
    for event in (first, second):
        delivery = subscription.delivery(event)
        assert (delivery["status"], delivery["lastError"]) == ("failed", "webhook_disabled")
        assert delivery["nextAttemptAt"] is None
    received = len(subscriber.received)
    drain(subscription)
    assert len(subscriber.received) == received


def test_410_disables_at_once(platform: Platform, subscriber: Subscriber) -> None:
    subscriber.answers(410)
    subscription = subscribe(platform, subscriber)
    events = publish(platform, 20)
    platform.deliver()
    shown = subscription.shown
    assert (shown["status"], shown["disabledReason"]) == ("disabled", "gone")
    assert len(subscriber.received) == 8  # those that were under way together
    assert {subscription.delivery(event)["status"] for event in events} == {"failed"}
    publish(platform)
    assert len(subscription.deliveries(limit=100)) == 20


def test_410_from_an_address_that_was_just_replaced_disables_nothing(
    platform: Platform, subscriber: Subscriber
) -> None:
    subscription = subscribe(platform, subscriber)
    with loopback_subscriber() as other:

        def replaced(_: Received) -> Reply:
            platform.call("PATCH", subscription.path, {"url": other.url})
            return Reply(410)

        subscriber.reply = replaced
        (event,) = publish(platform)
        platform.deliver()
    assert subscription.shown["status"] == "active"
    assert subscription.delivery(event)["status"] == "pending"


@pytest.mark.parametrize("end", ["disabled", "deleted"])
def test_whoever_disables_or_deletes_a_webhook_is_not_sent_the_rest_of_a_backlog(
    platform: Platform, subscriber: Subscriber, end: str
) -> None:
    subscription = subscribe(platform, subscriber)

    def ended(_: Received) -> Reply:
        if len(subscriber.received) == 1:
            if end == "disabled":
                platform.call("PATCH", subscription.path, {"status": "disabled"})
            else:
                platform.call("DELETE", subscription.path)
        return Reply()

    subscriber.reply = ended
    publish(platform, 30)
    platform.deliver()
    assert len(subscriber.received) <= 8
    items = DeliveryRepository(Table("deliveries", clients.dynamodb())).newest(
        subscription.id, after=None, page_size=100
    )
    reasons = [one.last_error for one in items if one.status == "failed"]
    assert len(reasons) >= 22
    assert set(reasons) == {f"webhook_{end}"}
    assert sweep_deliveries.lambda_handler({}, LambdaContext()) == {"woken": 0}


def test_a_name_that_turns_private_is_not_called(
    platform: Platform, subscriber: Subscriber, monkeypatch: pytest.MonkeyPatch, wakes: list[int]
) -> None:
    subscription = subscribe(platform, subscriber)
    (event,) = publish(platform)
    monkeypatch.setenv("ADMIT_PRIVATE_ADDRESSES", "false")
    deliver_events.parts.cache_clear()
    drain(subscription)
    assert subscriber.received == []
    assert subscription.delivery(event)["lastError"] == "address_refused"


def test_both_secrets_sign_for_a_day_after_a_rotation(
    platform: Platform, subscriber: Subscriber
) -> None:
    subscription = subscribe(platform, subscriber)
    rotated = platform.call("POST", f"{subscription.path}/rotate-secret").json
    assert rotated["secret"] != subscription.secret
    assert rotated["webhook"]["previousSecretUntil"] is not None
    publish(platform)
    platform.deliver()
    (received,) = subscriber.received
    assert received.verified(subscription.secret) == received.verified(rotated["secret"])
    assert len(received.headers["webhook-signature"].split()) == 2


def test_the_old_secret_signs_no_more_after_a_day(
    platform: Platform, subscriber: Subscriber, clock: StandingClock
) -> None:
    subscription = subscribe(platform, subscriber)
    platform.call("POST", f"{subscription.path}/rotate-secret")
    clock.turn(days=1)
    publish(platform)
    drain(subscription)
    (received,) = subscriber.received
    assert len(received.headers["webhook-signature"].split()) == 1


def test_a_replay_while_an_event_is_sent_is_not_lost(
    platform: Platform, subscriber: Subscriber
) -> None:
    subscription = subscribe(platform, subscriber)

    def replayed(received: Received) -> Reply:
        if len(subscriber.received) == 1:
            path = f"{subscription.path}/deliveries/{received.event_id}/replay"
            assert platform.call("POST", path).status == 202
        return Reply()

    subscriber.reply = replayed
    (event,) = publish(platform)
    platform.deliver()
    assert subscriber.event_ids == [event.id] * 2
    assert subscription.delivery(event)["status"] == "delivered"
