"""``client.apprentice.run``, ``get_run`` and ``runs``, blocking and not."""

import asyncio

import pytest

from autotune import APIError, AsyncAutotuneClient, InvalidInputError, InvalidRequestError
from tests.support.apprentice_runs import INPUT
from tests.support.apprentice_runs import runs as make_runs
from tests.support.ledger import ledger as make_ledger


@pytest.fixture
def runs(api):
    with make_ledger(api.platform) as ledger, make_runs(ledger) as made:
        made.put()
        yield made


def test_a_run_is_answered_and_read_blocking_and_not(client, api, runs):
    run = client.apprentice.run("intents", input=INPUT, idempotency_key="k")
    assert (run.state, run.output) == ("answered", {"intent": "open_door"})
    assert client.apprentice.get_run(run.id) == run

    async def again():
        async with AsyncAutotuneClient(base_url=api.base_url, api_key=api.api_key) as other:
            same = await other.apprentice.run("intents", input=INPUT, idempotency_key="k")
            return same, await other.apprentice.get_run(run.id)

    assert asyncio.run(again()) == (run, run)
    assert runs.bill["executions"] == 1


def test_calls_without_a_key_are_runs_of_their_own(client, runs):
    ids = {client.apprentice.run("intents", input=INPUT).id for _ in range(2)}
    assert len(ids) == 2
    pending = client.apprentice.run("intents", input=INPUT, wait=0)
    assert (pending.state, pending.output) == ("pending", None)


def test_what_cannot_be_is_said(client, runs):
    with pytest.raises(InvalidInputError, match="0 to 25 seconds"):
        client.apprentice.run("intents", input=INPUT, wait=26)
    with pytest.raises(InvalidRequestError) as refused:
        client.apprentice.run("intents", input={"text": 1})
    assert refused.value.errors[0].field == "input.text"
    runs.say("no JSON")
    with pytest.raises(APIError) as failed:
        client.apprentice.run("intents", input=INPUT)
    assert (failed.value.status, failed.value.code) == (503, "remote_unavailable")
