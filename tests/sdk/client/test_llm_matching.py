"""Requests that match a filter are canceled or retried, page by page."""

import asyncio

import pytest

from autotune import AsyncAutotuneClient, InvalidInputError
from tests.sdk.client.test_llm import row


@pytest.fixture
def api(ledger):
    """The ledger's API in place of the platform's."""
    return ledger


@pytest.fixture
def connection_id(api):
    return api.new_connection()


def test_what_matches_is_canceled_and_retried_page_by_page(api, client, connection_id):
    wanted = client.llm.enqueue([row(connection_id, f"q{n}") for n in range(5)]).request_ids
    client.llm.enqueue([row(connection_id, "other", purpose="critic")])
    pages = []
    assert client.llm.cancel_matching(purpose="scoring", on_page=pages.append) == 5
    assert sorted(one for page in pages for one in page) == sorted(wanted)
    assert len(pages) >= 3
    assert client.llm.cancel_matching(purpose="scoring") == 0
    assert client.llm.retry_matching(purpose="scoring", created_after=None) == 5
    with pytest.raises(InvalidInputError, match="error"):
        client.llm.retry_matching(error_code="none of them")


def test_an_event_loop_cancels_by_filter_as_well(api, connection_id):
    async def run():
        async with AsyncAutotuneClient(base_url=api.base_url, api_key=api.api_key) as client:
            await client.llm.enqueue([row(connection_id)])
            return await client.llm.cancel_matching(purpose="scoring")

    assert asyncio.run(run()) == 1
