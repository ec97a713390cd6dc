"""The client's requests to language models through the platform itself, to a fake provider."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from autotune import APIError, ConflictError, InvalidRequestError, NotFoundError
from tests.support.ledger import KEY, MODEL, PRICES, Ledger
from tests.support.ledger import ledger as make_ledger

VERDICT = {"type": "label", "labels": ["good", "bad"]}


@pytest.fixture
def models(api) -> Iterator[Ledger]:
    """What is asked through the platform, and the provider that answers."""
    with make_ledger(api.platform) as made:
        yield made


@pytest.fixture
def connection(models, client):
    return client.llm.connections.create(
        name="fake",
        provider="simulated",
        base_url=f"{models.fake.base_url}/served/v1",
        api_key=KEY,
        prices=PRICES,
        min_rows=1,
    )


def rows(connection, count, **fields):
    return [
        {
            "connectionId": connection.id,
            "purpose": "scoring",
            "model": MODEL,
            "input": {"user": "Is {{it}} good?", "variables": {"it": str(number)}},
            "params": {"maxTokens": 100},
            **fields,
        }
        for number in range(count)
    ]


def test_what_is_enqueued_is_asked_once_read_and_paid(models, client, connection):
    models.fake.world.answers.answerer = lambda _: "It is short.\nVERDICT: good"
    asked = rows(connection, 3, verdict=VERDICT, trace={"experimentId": "e"})
    estimate = client.llm.estimate(asked)
    assert (estimate.rows, estimate.fits) == (3, True)
    first = client.llm.enqueue(asked, idempotency_key="k")
    again = client.llm.enqueue(asked, idempotency_key="k")
    assert (again.request_ids, again.replayed) == (first.request_ids, 3)
    assert {one.id for one in client.llm.list(status="queued", page_size=2)} == set(
        first.request_ids
    )
    models.run()
    found = client.llm.wait(first.request_ids, timeout=20)
    assert [one.input.variables["it"] for one in found] == ["0", "1", "2"]
    assert {(one.status, one.parsed_verdict) for one in found} == {("completed", "good")}
    assert len(models.fake.world.executions) == 3
    spent = sum(one.cost_nano_usd for one in found)
    assert 0 < spent <= estimate.bound_nano_usd
    (batch,) = client.llm.batches.list()
    assert (client.llm.batches.get(batch.id), batch.cost_nano_usd) == (batch, spent)
    listed = [one.id for one in client.llm.batches.rows(batch.id, page_size=1)]
    assert sorted(listed) == sorted(first.request_ids)
    today = datetime.now(UTC).date()
    (cost,) = client.llm.costs(group_by="purpose", first=today, last=today)
    assert (cost.group, cost.rows, cost.cost_nano_usd) == ("scoring", 3, spent)
    assert [len(list(client.llm.list(experiment_id=one))) for one in ("e", "f")] == [3, 0]


def test_results_come_and_one_is_retried_and_erased(models, client, connection):
    ids = client.llm.enqueue(rows(connection, 2)).request_ids
    with pytest.raises(ConflictError):
        client.llm.retry(ids[0])
    assert client.llm.cancel(ids[0]).status == "canceled"
    models.run()
    statuses = {one.id: one.status for one in client.llm.results(ids, timeout=20)}
    assert statuses == {ids[0]: "canceled", ids[1]: "completed"}
    again = client.llm.retry(ids[0])
    assert client.llm.retry(ids[0]) == again
    assert client.llm.get(again, wait=1).retry_of == ids[0]
    client.llm.delete_content(ids[1])
    erased = client.llm.get(ids[1])
    assert (erased.input, erased.raw_output) == (None, None)
    assert erased.cost_nano_usd > 0


def test_a_connection_works_is_changed_and_revoked(models, client, connection):
    models.fake.world.keys["compatible"] = {KEY: "workspace"}
    assert client.llm.connections.verify(connection.id, model=MODEL).works
    changed = client.llm.connections.update(connection.id, api_key="another-fake-key")
    assert (changed.key_version, changed.key_ends_with) == (2, "-key")
    refused = client.llm.connections.verify(connection.id, model=MODEL)
    assert (refused.works, refused.error_code) == (False, "account")
    assert "another-fake-key" not in refused.detail
    assert [one.id for one in client.llm.connections.list()] == [connection.id]
    assert client.llm.connections.revoke(connection.id).status == "revoked"
    with pytest.raises(InvalidRequestError, match=r"requests\[0\]\.connectionId"):
        client.llm.enqueue(rows(connection, 1))
    with pytest.raises(NotFoundError):
        client.llm.connections.get("llc_none")


def test_a_budget_holds(models, client, connection):
    client.llm.set_budget(day_usd="0.00001", month_usd=300)
    budget = client.llm.budget()
    assert (budget.limits.day_usd, budget.limits.week_usd) == ("0.00001", None)
    assert not client.llm.estimate(rows(connection, 5)).fits
    with pytest.raises(APIError) as caught:
        client.llm.connections.verify(connection.id, model=MODEL)
    assert (caught.value.status, caught.value.code) == (402, "budget_exhausted")
    assert models.fake.world.executions == []
