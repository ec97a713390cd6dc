import asyncio

import pytest

from autotune import (
    ApprenticeVersion,
    AsyncAutotuneClient,
    ConflictError,
    InvalidInputError,
    InvalidRequestError,
    NotFoundError,
)
from tests.support.apprentice import configuration
from tests.support.ledger import ledger as make_ledger
from tests.support.model_servers import Vllm, serving


@pytest.fixture
def server(api, client):
    """A server of a task's small model."""
    with make_ledger(api.platform) as ledger, serving(Vllm()) as made:
        local = {"backend": "vllm", "url": made.url}
        asked = configuration(ledger.connect(), local=local, training=None)
        client.apprentice_tasks.put("support", configuration=asked)
        yield made


def test_a_version_is_registered_read_listed_and_retired(client, server):
    versions = client.apprentice.versions
    first = versions.register("support", model="intents-1")
    assert isinstance(first, ApprenticeVersion)
    assert (first.number, first.state, first.model) == (1, "hosted", "intents-1")
    assert versions.register("support", model="intents-1") == first
    server.weights = 2
    assert versions.register("support", model="intents-1").number == 2
    assert [one.number for one in versions.list("support", page_size=1)] == [2, 1]
    with pytest.raises(ConflictError, match="does not serve"):
        versions.roll_back("support", 2)
    retired = versions.retire("support", 2)
    assert retired.state == "retired"
    assert versions.get("support", 2) == retired
    assert versions.get("support", 1) == first


def test_what_cannot_be_is_an_error(client, server):
    versions = client.apprentice.versions
    with pytest.raises(InvalidInputError, match="model"):
        versions.register("support", model="")
    with pytest.raises(InvalidRequestError, match="lists base, intents-1"):
        versions.register("support", model="another")
    with pytest.raises(NotFoundError):
        versions.get("support", 1)
    with pytest.raises(NotFoundError):
        list(versions.list("none"))
    versions.register("support", model="intents-1")
    with pytest.raises(ConflictError, match="no evidence"):
        versions.promote("support", 1)


@pytest.mark.usefixtures("server")
def test_the_asynchronous_client_does_the_same(api):
    async def use() -> None:
        async with AsyncAutotuneClient(base_url=api.base_url, api_key=api.api_key) as client:
            versions = client.apprentice.versions
            made = await versions.register("support", model="intents-1")
            assert await versions.get("support", 1) == made
            assert [one.number async for one in versions.list("support")] == [1]
            with pytest.raises(ConflictError):
                await versions.promote("support", 1)
            assert (await versions.retire("support", 1)).state == "retired"

    asyncio.run(use())
