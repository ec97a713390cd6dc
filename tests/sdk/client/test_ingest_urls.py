"""``client.decks.ingest_urls``, blocking and for an event loop."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from autotune import AsyncAutotuneClient, InvalidRequestError, NotFoundError


def test_an_ingest_url_is_made_listed_and_revoked(client):
    deck = client.decks.create(name="d", system_prompt="Mine.")
    urls = client.decks.ingest_urls
    created = urls.create(
        name="n", deck_id=deck.id, collection="manual", expires_at=datetime.now(UTC) + timedelta(1)
    )
    assert f"/i/{created.ingest_url.id}-" in created.url
    assert (created.ingest_url.deck_id, created.ingest_url.collection) == (deck.id, "manual")
    assert list(urls.list(page_size=1)) == [created.ingest_url]
    assert urls.get(created.ingest_url.id).ends_with == created.url[-4:]
    assert urls.revoke(created.ingest_url.id).state == "revoked"
    with pytest.raises(InvalidRequestError, match="deck"):
        urls.create(name="n", deck_id="dck_" + "0" * 26)
    with pytest.raises(NotFoundError):
        urls.get("igu_" + "0" * 26)


def test_an_event_loop_has_the_same(api):
    async def use() -> None:
        async with AsyncAutotuneClient(base_url=api.base_url, api_key=api.api_key) as client:
            made = await client.decks.ingest_urls.create(name="n")
            assert [one async for one in client.decks.ingest_urls.list()] == [made.ingest_url]

    asyncio.run(use())
