import asyncio

import pytest

from autotune import (
    AsyncAutotuneClient,
    InvalidInputError,
    InvalidRequestError,
    NotFoundError,
    PutApprenticeTaskRequest,
)
from tests.support.apprentice import configuration
from tests.support.apprentice_folding import NOON, Apprentice
from tests.support.ledger import ledger as make_ledger


@pytest.fixture
def asked(api):
    """The configuration of a task."""
    with make_ledger(api.platform) as ledger:
        yield configuration(ledger.connect())


def test_a_task_is_put_read_listed_and_deleted(client, asked):
    put = client.apprentice_tasks.put("support", configuration=asked)
    assert (put.name, put.version) == ("support", 1)
    assert client.apprentice_tasks.get("support") == put
    assert client.apprentice_tasks.put("support", configuration=put.configuration) == put
    client.apprentice_tasks.put("another", configuration=asked)
    names = [one.name for one in client.apprentice_tasks.list(page_size=1)]
    assert names == ["another", "support"]
    assert client.apprentice_tasks.delete("support") is None
    with pytest.raises(NotFoundError):
        client.apprentice_tasks.get("support")
    with pytest.raises(NotFoundError):
        client.apprentice_tasks.delete("support")


def test_each_version_of_a_configuration_stays(client, asked):
    first = client.apprentice_tasks.put("support", configuration=asked)
    request = PutApprenticeTaskRequest.model_validate({**asked, "systemPrompt": "Other words."})
    second = client.apprentice_tasks.put("support", configuration=request)
    assert second.version == 2
    assert second.definition_hash != first.definition_hash
    versions = [
        one.version for one in client.apprentice_tasks.configurations("support", page_size=1)
    ]
    assert versions == [2, 1]
    read = client.apprentice_tasks.configuration("support", 1)
    assert read.configuration == first.configuration
    with pytest.raises(NotFoundError):
        client.apprentice_tasks.configuration("support", 3)


def test_fields_may_be_in_snake_case(client, asked):
    request = PutApprenticeTaskRequest.model_validate(asked)
    put = client.apprentice_tasks.put("support", configuration=request.model_dump())
    assert put.configuration == request


def test_what_cannot_be_is_refused_before_it_is_sent(client, asked):
    with pytest.raises(InvalidInputError, match="systemPrompt"):
        client.apprentice_tasks.put("support", configuration={**asked, "systemPrompt": ""})
    with pytest.raises(InvalidRequestError, match="name"):
        client.apprentice_tasks.put("Support", configuration=asked)


def test_pairs_of_a_version_are_walked_newest_first(api, client):
    with make_ledger(api.platform) as ledger:
        apprentice = Apprentice(api.platform, ledger.connect())
        apprentice.add_version(1)
        apprentice.store(apprentice.answered(score) for score in (1, 0.5, 0))
        apprentice.follow()
    pairs = list(client.apprentice_tasks.pairs("intents", version=1, page_size=2))
    assert [one.sequence for one in pairs] == [3, 2, 1]
    assert sorted(one.score for one in pairs) == [0, 0.5, 1]
    assert all(one.is_drawn and one.version == 1 for one in pairs)
    assert {one.run_id[:4] for one in pairs} == {"apr_"}
    assert pairs[0].at == NOON
    with pytest.raises(NotFoundError, match="no version 2"):
        list(client.apprentice_tasks.pairs("intents", version=2))
    with pytest.raises(InvalidRequestError, match="version"):
        list(client.apprentice_tasks.pairs("intents", version=0))


def test_the_asynchronous_client_does_the_same(api, asked):
    async def use() -> None:
        async with AsyncAutotuneClient(base_url=api.base_url, api_key=api.api_key) as client:
            tasks = client.apprentice_tasks
            await tasks.put("support", configuration=asked)
            assert (await tasks.get("support")).version == 1
            assert [one.name async for one in tasks.list()] == ["support"]
            assert [one.version async for one in tasks.configurations("support")] == [1]
            assert (await tasks.configuration("support", 1)).version == 1
            await tasks.delete("support")
            assert [one async for one in tasks.list()] == []

    asyncio.run(use())
