import asyncio
import json

import pytest

from autotune import AsyncAutotuneClient, InvalidInputError, NotFoundError


def test_webhooks_are_created_read_changed_listed_and_deleted(api, client):
    created = client.webhooks.create(
        url="https://subscriber.example", event_types=["score.completed"], description="team"
    )
    assert created.secret.startswith("whsec_")
    webhook = created.webhook
    assert (webhook.event_types, webhook.status) == (["score.completed"], "active")
    assert client.webhooks.get(webhook.id) == webhook
    changed = client.webhooks.update(webhook.id, event_types="all", status="disabled")
    assert (changed.event_types, changed.status) == ("all", "disabled")
    assert changed.description == "team"
    assert [one.id for one in client.webhooks.list()] == [webhook.id]
    assert client.webhooks.rotate_secret(webhook.id).secret != created.secret
    client.webhooks.delete(webhook.id)
    with pytest.raises(NotFoundError):
        client.webhooks.get(webhook.id)


def test_deliveries_are_listed_by_status_over_every_page_and_replayed(client, subscriber, happen):
    webhook = client.webhooks.create(url=subscriber.url).webhook
    assert webhook.event_types == "all"
    events = happen(3, webhook_id=webhook.id, refused=True)
    happen(webhook_id=webhook.id)
    failed = client.webhooks.deliveries(webhook.id, status="failed", page_size=2)
    assert [one.event_id for one in failed] == events[::-1]
    told = json.loads(client.webhooks.delivery(webhook.id, events[0]).body)
    assert told["data"] == {"number": 0}
    replayed = client.webhooks.replay(webhook.id, events[0])
    assert (replayed.status, replayed.attempts) == ("pending", 0)
    assert len(list(client.webhooks.deliveries(webhook.id))) == 4


def test_arguments_out_of_range_are_named_and_nothing_is_sent(api, client):
    for wrong in ([], ["score.deleted"], "some"):
        with pytest.raises(InvalidInputError, match="event_types"):
            client.webhooks.create(url="https://subscriber.example", event_types=wrong)
    with pytest.raises(InvalidInputError, match="status"):
        client.webhooks.update("whk_1", status="paused")
    assert api.received == []


def test_the_asynchronous_client_does_the_same(api, subscriber, happen):
    async def use() -> None:
        async with AsyncAutotuneClient(base_url=api.base_url, api_key=api.api_key) as client:
            webhook = (await client.webhooks.create(url=subscriber.url)).webhook
            (event_id,) = happen(webhook_id=webhook.id, refused=True)
            listed = [one.event_id async for one in client.webhooks.deliveries(webhook.id)]
            assert listed == [event_id]
            assert (await client.webhooks.replay(webhook.id, event_id)).status == "pending"
            assert [one.id async for one in client.webhooks.list()] == [webhook.id]

    asyncio.run(use())
