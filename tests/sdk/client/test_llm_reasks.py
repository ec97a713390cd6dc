"""Requests that are asked again: the last one that came of a request stands in its place."""

import asyncio

import pytest

from autotune import AsyncAutotuneClient, AutotuneClient
from autotune.client import WaitTimeoutError


@pytest.fixture
def api(ledger):
    return ledger


@pytest.fixture
def client(api):
    with AutotuneClient(base_url=api.base_url, api_key=api.api_key) as made:
        yield made


@pytest.fixture
def enqueued(api, client):
    row = {
        "connectionId": api.new_connection(),
        "purpose": "scoring",
        "model": "m",
        "input": {"user": "q"},
        "params": {"maxTokens": 8},
        "verdict": {"type": "text", "onParseFailure": "reask"},
    }
    return lambda count: list(client.llm.enqueue([row] * count).request_ids)


UNREAD = {"parseError": {"code": "verdict_missing", "message": "none"}}


def reask(api, before, after):
    """Have a request be asked again as another."""
    api.end(before, **UNREAD, reaskedAs=after, reaskDue=False)
    first = api.rows[before].get("firstRequestId") or before
    api.rows[after] |= {"reaskOf": before, "firstRequestId": first}


def test_the_last_of_a_chain_comes_in_the_place_of_the_first(api, client, enqueued):
    first, second, third, other = enqueued(4)
    reask(api, first, second)
    reask(api, second, third)
    api.end(third, parsedVerdict="good")
    api.end(other)
    before = []
    found = client.llm.wait([first, other], timeout=20, on_reask=before.append)
    assert [one.id for one in found] == [third, other]
    assert (found[0].first_request_id, found[0].parsed_verdict) == (first, "good")
    assert [one.id for one in before] == [first, second]
    assert {one.id for one in client.llm.results([first, other], timeout=20)} == {third, other}


def test_just_what_is_named_comes_where_it_is_not_followed(api, client, enqueued):
    first, second = enqueued(2)
    reask(api, first, second)
    (found,) = client.llm.wait([first], timeout=20, follow_reasks=False)
    assert (found.id, found.reasked_as) == (first, second)
    assert [one.id for one in client.llm.results([first], follow_reasks=False)] == [first]


def test_one_that_is_about_to_be_asked_again_is_waited_for(api, client, enqueued):
    first, second = enqueued(2)
    api.end(first, **UNREAD, reaskDue=True)
    with pytest.raises(WaitTimeoutError, match="1 requests"):
        client.llm.wait([first], timeout=0.3)
    api.end(second, parsedVerdict="good")
    api.end_later(first, 0.4, **UNREAD, reaskedAs=second, reaskDue=False)
    (found,) = client.llm.wait([first], timeout=20)
    assert found.id == second


def test_one_that_is_not_asked_again_comes_itself_with_the_reason(api, client, enqueued):
    (first,) = enqueued(1)
    api.end(first, **UNREAD, reaskSkipped="output_cut")
    (found,) = client.llm.wait([first], timeout=20)
    assert (found.id, found.reask_skipped) == (first, "output_cut")


def test_both_of_a_chain_may_be_named(api, client, enqueued):
    first, second = enqueued(2)
    reask(api, first, second)
    api.end(second)
    found = client.llm.wait([first, second], timeout=20)
    assert [one.id for one in found] == [second, second]


def test_an_event_loop_follows_as_well(api, enqueued):
    first, second = enqueued(2)
    reask(api, first, second)
    api.end(second)

    async def run():
        async with AsyncAutotuneClient(base_url=api.base_url, api_key=api.api_key) as client:
            waited = await client.llm.wait([first], timeout=20)
            return waited + [one async for one in client.llm.results([first], timeout=20)]

    assert [one.id for one in asyncio.run(run())] == [second, second]
