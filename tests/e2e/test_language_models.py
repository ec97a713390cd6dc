"""Requests to language models on the real way: enqueued, asked in batches, paid, and read."""

import secrets
from collections.abc import Iterator
from typing import Any

import pytest

from autotune import APIError, AutotuneClient
from autotune.protocol.llm_connections import LlmConnection
from tests.e2e.conftest import until
from tests.providers.server import FakeServer, serve
from tests.support.subscribers import loopback_subscriber

PATIENCE = 90
# Random, so that packing does not make it small enough for an item of the table.
LARGE = secrets.token_hex(20_000)
PRICES = {"small": {"input_usd": "0.1", "output_usd": "0.4"}}


@pytest.fixture
def provider() -> Iterator[FakeServer]:
    with serve() as fake:
        fake.world.prices.add("compatible", "small", (0.1, 0.1, 0.4))
        fake.world.keys["compatible"] = {"fake-key": "main"}
        yield fake


@pytest.fixture
def connection(client: AutotuneClient, provider: FakeServer) -> Iterator[LlmConnection]:
    made = client.llm.connections.create(
        name="fake",
        provider="simulated",
        base_url=f"{provider.base_url}/served/v1",
        api_key="fake-key",
        prices=PRICES,
        min_rows=2,
        max_rows=20,
        max_wait_seconds=60,
    )
    yield made
    client.llm.connections.revoke(made.id)


def asked(connection: LlmConnection, *users: str) -> list[dict[str, object]]:
    return [
        {
            "connectionId": connection.id,
            "purpose": "scoring",
            "model": "small",
            "input": {"user": user},
            "params": {"maxTokens": 100},
            "verdict": {"type": "label", "labels": ["good", "bad"]},
        }
        for user in users
    ]


def test_rows_are_asked_once_paid_once_and_come_home(
    client: AutotuneClient, provider: FakeServer, connection: LlmConnection
) -> None:
    provider.world.answers.answerer = lambda _: "It is short.\nVERDICT: good"
    verified = client.llm.connections.verify(connection.id, model="small")
    assert verified.works, verified
    before = {use.period: use.spent_nano_usd for use in client.llm.budget().periods}
    rows = asked(connection, LARGE, *(f"question {n}" for n in range(49)))
    ids = client.llm.enqueue(rows).request_ids
    found = client.llm.wait(ids, timeout=PATIENCE)
    assert {(one.status, one.parsed_verdict) for one in found} == {("completed", "good")}
    assert found[0].input is not None
    assert found[0].input.user == LARGE
    batches = list(client.llm.batches.list())
    assert sorted(one.counts.rows for one in batches if one.connection_id == connection.id) == [
        *(10, 20, 20)
    ]
    spent = sum(one.cost_nano_usd or 0 for one in found)
    bill = provider.world.bill()
    assert bill["executions"] == 51
    assert spent + (verified.cost_nano_usd or 0) == bill["total_nano_usd"]
    after = {use.period: use for use in client.llm.budget().periods}
    assert {after[period].spent_nano_usd - before[period] for period in before} == {spent}
    assert [one.id for one in client.llm.batches.rows(batches[0].id)]
    assert client.llm.estimate(rows[:2]).fits
    assert sum(one.cost_nano_usd for one in client.llm.costs(group_by="purpose")) >= spent
    client.llm.delete_content(ids[0])
    assert client.llm.get(ids[0]).input is None


def test_a_few_rows_wait_for_others_are_canceled_or_swept(
    client: AutotuneClient, provider: FakeServer, connection: LlmConnection
) -> None:
    (first,) = client.llm.enqueue(asked(connection, "a")).request_ids
    assert client.llm.cancel(first).status == "canceled"
    # Nobody joins it: the sweeper starts it in its next minute, for it has waited long enough then.
    client.llm.connections.update(connection.id, max_wait_seconds=1)
    retried = client.llm.retry(first)
    (found,) = client.llm.wait([retried], timeout=240)
    assert (found.status, found.retry_of) == ("completed", first)
    assert provider.world.bill()["executions"] == 1
    assert first in [one.id for one in client.llm.list(status="canceled")]


def test_nothing_is_sent_that_a_budget_has_no_room_for(
    client: AutotuneClient, provider: FakeServer, connection: LlmConnection
) -> None:
    client.llm.set_budget(day_usd="0.000000001")
    try:
        with pytest.raises(APIError) as refused:
            client.llm.connections.verify(connection.id, model="small")
        assert (refused.value.status, refused.value.code) == (402, "budget_exhausted")
        assert provider.world.bill()["executions"] == 0
    finally:
        client.llm.set_budget()
    changed = client.llm.connections.update(connection.id, name="renamed")
    assert changed.name == "renamed"
    assert connection.id in [one.id for one in client.llm.connections.list()]


def test_webhooks_hear_of_a_batch_that_ended_and_of_a_budget_that_is_used_up(
    client: AutotuneClient, connection: LlmConnection
) -> None:
    with loopback_subscriber() as subscriber:
        types = ["ledger.batch.completed", "budget.exhausted"]
        webhook = client.webhooks.create(url=subscriber.url, event_types=types)

        def told(kind: str, **which: Any) -> dict[str, Any] | None:
            """The event of a kind about something, whose signature is right."""
            messages = [one.verified(webhook.secret) for one in list(subscriber.received)]
            found = [one["data"] for one in messages if one["event"] == kind]
            return next((one for one in found if which.items() <= one.items()), None)

        client.llm.wait(client.llm.enqueue(asked(connection, "a", "b")).request_ids, timeout=90)
        (batch,) = [one for one in client.llm.batches.list() if one.connection_id == connection.id]
        about = {"connectionId": connection.id}
        ended = until(lambda: told("ledger.batch.completed", **about), seconds=60)
        seen = client.llm.batches.get(batch.id).model_dump(mode="json", by_alias=True)
        assert ended == {
            "batchId": batch.id,
            **{name: seen[name] for name in ended.keys() - {"batchId"}},
        }
        assert (ended["status"], ended["counts"]["completed"]) == ("completed", 2)
        assert ended["costNanoUsd"] > 0

        # Each period says it once: the day is another test's.
        client.llm.set_budget(week_usd="0.000000001")
        try:
            for _ in range(2):
                with pytest.raises(APIError, match="budget"):
                    client.llm.connections.verify(connection.id, model="small")
            used = until(lambda: told("budget.exhausted", period="week"), seconds=60)
            (week,) = [one for one in client.llm.budget().periods if one.period == "week"]
            shown = week.model_dump(mode="json", by_alias=True)
            assert used == {
                "scope": "organization",
                **{name: shown[name] for name in used.keys() - {"scope"}},
            }
            assert (used["limitNanoUsd"], used["spentNanoUsd"] > 0) == (1, True)
        finally:
            client.llm.set_budget()
            client.webhooks.delete(webhook.webhook.id)
        assert len(set(subscriber.event_ids)) == len(subscriber.received)


def test_rows_go_in_a_job_of_the_provider_at_its_price(
    client: AutotuneClient, provider: FakeServer
) -> None:
    provider.world.timing.validate_seconds = 0.2
    provider.world.timing.run_seconds = 2
    # Done, and the answer is lost: the job is found again in the provider's list.
    provider.world.traps.arm(name="create_answer_lost", times=1)
    made = client.llm.connections.create(
        name="jobs",
        provider="openai",
        base_url=f"{provider.base_url}/v1",
        api_key="fake-key",
        min_rows=20,
    )
    rows = [{**one, "model": "gpt-5-mini"} for one in asked(made, *(f"q {n}" for n in range(20)))]
    ids = client.llm.enqueue(rows).request_ids
    found = client.llm.wait(ids, timeout=PATIENCE)
    assert {one.status for one in found} == {"completed"}
    bill = provider.world.bill()
    assert bill["executions"] == 20
    assert sum(one.cost_nano_usd or 0 for one in found) == bill["total_nano_usd"]
    batches = [one for one in client.llm.batches.list() if one.connection_id == made.id]
    (job,) = [one.job for one in batches if one.job is not None and one.job.id]
    assert job.rows == 20
    assert len(provider.world.batches) == 1
    client.llm.connections.revoke(made.id)
