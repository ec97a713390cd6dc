import asyncio
from datetime import UTC, datetime

import pytest

from autotune import AsyncAutotuneClient, InvalidInputError, NotFoundError

WHAT = {"name": "trainer", "model_id": "m"}


def test_reward_urls_are_made_read_listed_and_revoked(api, client):
    task_id = api.new_task()
    until = datetime(2030, 1, 1, tzinfo=UTC)
    made = client.reward_urls.create(task_id=task_id, expires_at=until, **WHAT)
    reward_url = made.reward_url
    assert f"/r/{reward_url.id}" in made.url
    assert (reward_url.task_id, reward_url.expires_at) == (task_id, until)
    assert client.reward_urls.get(reward_url.id) == reward_url
    another = client.reward_urls.create(task_id=task_id, **WHAT).reward_url
    assert another.expires_at is None
    listed = [one.id for one in client.reward_urls.list(page_size=1)]
    assert listed == [reward_url.id, another.id]
    assert client.reward_urls.revoke(reward_url.id).state == "revoked"
    with pytest.raises(NotFoundError):
        client.reward_urls.get("rwu_none")


def test_arguments_out_of_range_are_named_and_nothing_is_sent(api, client):
    with pytest.raises(InvalidInputError, match="task_id"):
        client.reward_urls.create(task_id="arithmetic", **WHAT)
    with pytest.raises(InvalidInputError, match="name"):
        client.reward_urls.create(task_id=api.new_task(), **{**WHAT, "name": ""})
    assert api.received == []


def test_the_asynchronous_client_does_the_same(api):
    async def use() -> None:
        async with AsyncAutotuneClient(base_url=api.base_url, api_key=api.api_key) as client:
            made = await client.reward_urls.create(task_id=api.new_task(), **WHAT)
            assert [one.id async for one in client.reward_urls.list()] == [made.reward_url.id]
            assert (await client.reward_urls.revoke(made.reward_url.id)).state == "revoked"

    asyncio.run(use())


def test_an_expiry_without_a_zone_is_local_time(api, client):
    until = datetime(2999, 1, 1, 12)  # noqa: DTZ001 - what is tested
    made = client.reward_urls.create(task_id=api.new_task(), expires_at=until, **WHAT)
    assert made.reward_url.expires_at == until.astimezone()
