"""From an event to a subscriber on the deployed stack."""

from datetime import UTC, datetime
from typing import Any

import boto3
import pytest

from autotune import AutotuneClient
from autotune.protocol.ids import new_id
from autotune_platform.storage.table import Table
from autotune_platform.storage.versioned_states import VersionedStates
from autotune_platform.webhooks.drains import DRAIN_KEPT_SECONDS
from autotune_platform.webhooks.models import Event
from autotune_platform.webhooks.publisher import EventPublisher
from autotune_platform.webhooks.repository import DeliveryRepository, WebhookRepository
from autotune_platform.webhooks.waking import WakeQueue
from local.endpoint import REGION
from local.records import LocalProfile
from tests.e2e.conftest import until
from tests.support.subscribers import Received, Reply, Subscriber, loopback_subscriber


@pytest.fixture
def publisher(profile: LocalProfile) -> EventPublisher:
    """A publisher on the deployed tables and queue, as the functions that publish have one."""
    session = boto3.Session("test", "test", region_name=REGION)
    dynamodb: Any = session.client("dynamodb", endpoint_url=profile.aws_endpoint_url)
    sqs: Any = session.client("sqs", endpoint_url=profile.aws_endpoint_url)
    tables = dynamodb.list_tables()["TableNames"]
    queues = sqs.list_queues()["QueueUrls"]

    def table(name: str) -> Table:
        return Table(next(one for one in tables if name in one), dynamodb)

    deliveries = table("Deliveries")
    return EventPublisher(
        webhooks=WebhookRepository(table("Registry")),
        deliveries=DeliveryRepository(deliveries),
        queue=WakeQueue(
            url=next(one for one in queues if "WebhooksQueue" in one),
            sqs=sqs,
            drains=VersionedStates(deliveries, kept_seconds=DRAIN_KEPT_SECONDS),
        ),
    )


def attempts(subscriber: Subscriber, event: Event, count: int) -> list[Any]:
    """Wait until an event has come in some times."""

    def received() -> list[Any]:
        found = [one for one in subscriber.received if one.event_id == event.id]
        return found if len(found) >= count else []

    return until(received, seconds=180, pause=0.1)


def test_an_event_arrives_signed_is_tried_again_and_replayed_under_one_id(
    client: AutotuneClient, profile: LocalProfile, publisher: EventPublisher
) -> None:
    with loopback_subscriber() as subscriber:
        # Graders of other tests may change their status meanwhile: only this event is refused once.
        refused: set[str] = set()

        def refuse_once(one: Received) -> Reply:
            is_first = one.event_id == event.id and event.id not in refused
            refused.add(one.event_id)
            return Reply(500 if is_first else 200)

        subscriber.reply = refuse_once
        created = client.webhooks.create(url=subscriber.url, event_types=["grader.status_changed"])
        event = Event(
            id=new_id("evt"),
            type="grader.status_changed",
            organization_id=profile.organization_id,
            occurred_at=datetime.now(UTC),
            data={"graderId": new_id("grd"), "currentStatus": "degraded"},
        )
        publisher.publish([event])
        first, second = attempts(subscriber, event, 2)
        assert first.verified(created.secret) == second.verified(created.secret)
        assert second.verified(created.secret)["data"] == event.data

        webhook_id = created.webhook.id
        # The answer reaches us before the deliverer has noted it.
        until(
            lambda: client.webhooks.delivery(webhook_id, event.id).status == "delivered",
            seconds=10,
            pause=0.1,
        )
        assert client.webhooks.delivery(webhook_id, event.id).attempts == 2
        assert event.id in {one.event_id for one in client.webhooks.deliveries(webhook_id)}

        client.webhooks.replay(webhook_id, event.id)
        third = attempts(subscriber, event, 3)[-1]
        assert third.verified(created.secret) == second.verified(created.secret)
        client.webhooks.delete(webhook_id)
