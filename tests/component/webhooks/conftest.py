import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from autotune.protocol.ids import derived_id
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment.webhooks import WebhookEnvironment
from autotune_platform.webhooks.models import Event, WebhookKey
from autotune_platform.wiring.publishing import PublisherParts
from functions.webhooks import deliver_events, sweep_deliveries
from tests.support.clock import StandingClock
from tests.support.lambdas import LambdaContext
from tests.support.platform import Platform
from tests.support.subscribers import Subscriber, loopback_subscriber

_numbers = itertools.count()


@dataclass
class Subscription:
    """A webhook made over the API, and its deliveries."""

    platform: Platform
    id: str
    secret: str

    @property
    def path(self) -> str:
        return f"/api/v1/webhooks/{self.id}"

    @property
    def shown(self) -> Any:
        return self.platform.call("GET", self.path).json["webhook"]

    @property
    def key(self) -> WebhookKey:
        return WebhookKey(organization_id=self.platform.me()["organizationId"], webhook_id=self.id)

    def deliveries(self, **query: Any) -> list[Any]:
        answer = self.platform.call("GET", f"{self.path}/deliveries", query=query)
        assert answer.status == 200, answer.text
        return answer.json["deliveries"]

    def delivery(self, event: Event) -> Any:
        return self.platform.call("GET", f"{self.path}/deliveries/{event.id}").json["delivery"]


def subscribe(platform: Platform, subscriber: Subscriber, **fields: Any) -> Subscription:
    answer = platform.call("POST", "/api/v1/webhooks", {"url": subscriber.url, **fields})
    assert answer.status == 201, answer.text
    return Subscription(platform, answer.json["webhook"]["id"], answer.json["secret"])


def publish(platform: Platform, count: int = 1) -> list[Event]:
    """Let something happen in the first organisation; return the events, the oldest first."""
    now = datetime.now(UTC)
    events = [
        Event(
            id=derived_id("evt", str(next(_numbers))),
            type="score.completed",
            organization_id=platform.me()["organizationId"],
            occurred_at=now + timedelta(milliseconds=number),
            data={"number": number},
        )
        for number in range(count)
    ]
    PublisherParts(WebhookEnvironment.parse()).publisher.publish(events)
    return events


def drain(subscription: Subscription, *, seconds: float = 60) -> None:
    """Deliver one wake-up of a webhook."""
    record = {"messageId": "1", "body": subscription.key.model_dump_json()}
    answer = deliver_events.lambda_handler({"Records": [record]}, LambdaContext(seconds))
    assert answer == {"batchItemFailures": []}


@pytest.fixture
def subscriber() -> Iterator[Subscriber]:
    with loopback_subscriber() as made:
        yield made


@pytest.fixture
def clock(platform: Platform) -> StandingClock:
    """The clock of deliverer and sweep, turned by hand."""
    # Ahead, so that what a test has just published is due.
    made = StandingClock(timedelta(minutes=1))
    deliver_events.parts().deliverer.clock = made
    sweep_deliveries.parts().delivery_sweeper.clock = made
    return made


@pytest.fixture
def wakes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Seconds after which webhooks were to be woken; nobody is woken by them."""
    delays: list[int] = []

    def note(_queue: object, _keys: object, *, delay_seconds: int = 0) -> None:
        delays.append(delay_seconds)

    monkeypatch.setattr("autotune_platform.webhooks.waking.WakeQueue.wake", note)
    return delays


@pytest.fixture
def count_calls() -> Callable[[], list[str]]:
    """Return what notes the names of all calls to DynamoDB from now on."""

    def start() -> list[str]:
        calls: list[str] = []
        clients.dynamodb().meta.events.register(
            "before-call.dynamodb", lambda model, **_: calls.append(model.name)
        )
        return calls

    return start
