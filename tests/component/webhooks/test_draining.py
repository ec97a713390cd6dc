"""One function drains one webhook; whatever dies or gets lost, no event is missed."""

import threading
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from autotune_platform.webhooks.repository import DeliveryRepository
from functions.webhooks import deliver_events, sweep_deliveries
from tests.component.webhooks.conftest import drain, publish, subscribe
from tests.support.clock import StandingClock
from tests.support.lambdas import LambdaContext
from tests.support.platform import Platform
from tests.support.subscribers import Received, Reply, Subscriber, loopback_subscriber


def test_a_slow_subscriber_delays_nobody_else(platform: Platform, subscriber: Subscriber) -> None:
    released = threading.Event()
    with loopback_subscriber() as slow:

        def wait(_: Received) -> Reply:
            released.wait(30)
            return Reply()

        slow.reply = wait
        slow_one = subscribe(platform, slow)
        prompt = subscribe(platform, subscriber)
        publish(platform, 20)
        worker = threading.Thread(target=drain, args=[slow_one])
        worker.start()
        try:
            drain(prompt)
            assert len(subscriber.received) == 20
            assert len(slow.received) <= 8
            assert worker.is_alive()
        finally:
            released.set()
            worker.join()
        assert len(slow.received) == 20


def test_two_functions_never_drain_one_webhook_together_and_the_first_looks_again(
    platform: Platform, subscriber: Subscriber, wakes: list[int]
) -> None:
    begun, released = threading.Event(), threading.Event()

    def wait(_: Received) -> Reply:
        begun.set()
        released.wait(30)
        return Reply()

    subscriber.reply = wait
    subscription = subscribe(platform, subscriber)
    publish(platform)
    wakes.clear()
    worker = threading.Thread(target=drain, args=[subscription])
    worker.start()
    assert begun.wait(30)
    drain(subscription)
    drain(subscription)
    assert len(subscriber.received) == 1
    released.set()
    worker.join()
    assert len(subscriber.received) == 1
    assert wakes == [0]


def test_what_there_is_no_time_for_is_left_to_the_next_function(
    platform: Platform, subscriber: Subscriber, wakes: list[int]
) -> None:
    subscription = subscribe(platform, subscriber)
    publish(platform, 3)
    wakes.clear()
    drain(subscription, seconds=19)
    assert (subscriber.received, wakes) == ([], [0])
    drain(subscription)
    assert len(subscriber.received) == 3


def test_a_function_killed_after_sending_leaves_the_event_to_be_sent_again(
    platform: Platform,
    subscriber: Subscriber,
    clock: StandingClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    subscription = subscribe(platform, subscriber)
    (event,) = publish(platform)
    platform.queued("webhooks")

    def die(*_: object) -> None:
        raise KilledError

    with monkeypatch.context() as killed:
        killed.setattr(DeliveryRepository, "replace", die)
        with pytest.raises(KilledError):
            drain(subscription)
    assert subscriber.event_ids == [event.id]
    assert subscription.delivery(event)["status"] == "pending"

    drain(subscription)  # the dead function still holds the webhook
    assert len(subscriber.received) == 1
    clock.turn(seconds=61)
    assert sweep_deliveries.lambda_handler({}, LambdaContext()) == {"woken": 1}
    platform.deliver()
    assert subscriber.event_ids == [event.id] * 2
    assert subscription.delivery(event)["status"] == "delivered"


def test_an_event_whose_wake_up_was_lost_is_found_by_the_sweep(
    platform: Platform, subscriber: Subscriber, clock: StandingClock
) -> None:
    subscription = subscribe(platform, subscriber)
    (event,) = publish(platform)
    platform.queued("webhooks")  # taken off the queue, and never handled
    assert sweep_deliveries.lambda_handler({}, LambdaContext()) == {"woken": 1}
    platform.deliver()
    assert subscriber.event_ids == [event.id]
    assert subscription.delivery(event)["status"] == "delivered"
    assert sweep_deliveries.lambda_handler({}, LambdaContext()) == {"woken": 0}


def test_of_two_sweeps_at_once_one_wakes_a_webhook(
    platform: Platform,
    subscriber: Subscriber,
    clock: StandingClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    subscribe(platform, subscriber)
    publish(platform)
    platform.queued("webhooks")
    due = DeliveryRepository.webhooks_due
    woken = []

    def due_beside_another(self: DeliveryRepository, now: datetime) -> Any:
        monkeypatch.setattr(DeliveryRepository, "webhooks_due", due)
        found = list(due(self, now))
        woken.append(sweep_deliveries.lambda_handler({}, LambdaContext()))
        return iter(found)

    monkeypatch.setattr(DeliveryRepository, "webhooks_due", due_beside_another)
    woken.append(sweep_deliveries.lambda_handler({}, LambdaContext()))
    assert woken == [{"woken": 1}, {"woken": 0}]
    assert len(platform.queued("webhooks")) == 1


class KilledError(Exception):
    """Stands for the end of a process."""


def test_the_sweep_wakes_only_what_has_something_due(
    platform: Platform, subscriber: Subscriber, clock: StandingClock
) -> None:
    assert sweep_deliveries.lambda_handler({}, LambdaContext()) == {"woken": 0}
    with loopback_subscriber() as failing:
        failing.answers(500)
        later = subscribe(platform, failing)
        publish(platform, 5)
        drain(later)
    due = [subscribe(platform, subscriber) for _ in range(5)]
    publish(platform, 5)
    drain(due[0])
    platform.queued("webhooks")
    # The failing one has been published to anew, too.
    assert sweep_deliveries.lambda_handler({}, LambdaContext()) == {"woken": 5}
    platform.deliver()
    assert len(subscriber.received) == 25


def test_an_idle_sweep_reads_each_partition_once(
    platform: Platform, count_calls: Callable[[], list[str]]
) -> None:
    calls = count_calls()
    sweep_deliveries.lambda_handler({}, LambdaContext())
    assert calls == ["Query"] * 8


def test_an_unreadable_message_goes_to_the_dead_letters(platform: Platform) -> None:
    record = {"messageId": "m1", "body": "{}"}
    answer = deliver_events.lambda_handler({"Records": [record]}, LambdaContext())
    assert answer == {"batchItemFailures": [{"itemIdentifier": "m1"}]}
