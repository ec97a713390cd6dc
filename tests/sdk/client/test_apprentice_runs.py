"""``client.apprentice.run``, ``get_run`` and ``runs``, blocking and not."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from autotune import (
    APIError,
    AsyncAutotuneClient,
    ConflictError,
    InvalidInputError,
    InvalidRequestError,
)
from tests.support.apprentice_runs import INPUT
from tests.support.apprentice_runs import runs as make_runs
from tests.support.lambdas import LambdaContext, handler
from tests.support.ledger import ledger as make_ledger
from tests.support.tables import stream_records


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


def test_texts_of_a_run_are_deleted_blocking_and_not(client, api, runs):
    made = [client.apprentice.run("intents", input=INPUT) for _ in range(2)]
    records = {"Records": stream_records("apprentice")}
    handler("functions.apprentice.follow_runs")(records, LambdaContext())
    since = datetime.now(UTC).date() - timedelta(days=9)
    listed = {one.id for one in client.apprentice.runs("intents", first=since)}
    assert listed == {one.id for one in made}

    async def delete():
        async with AsyncAutotuneClient(base_url=api.base_url, api_key=api.api_key) as other:
            await other.apprentice.delete_run_content(made[1].id)

    client.apprentice.delete_run_content(made[0].id)
    asyncio.run(delete())
    for run in made:
        left = client.apprentice.get_run(run.id)
        assert (left.input, left.output, left.state) == (None, None, "answered")
        assert left.content_deleted_at is not None
    pending = client.apprentice.run("intents", input=INPUT, wait=0)
    with pytest.raises(ConflictError, match="pending"):
        client.apprentice.delete_run_content(pending.id)


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
