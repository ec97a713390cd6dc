import asyncio
import json

import pytest

from autotune import (
    AsyncAutotuneClient,
    BedrockSettings,
    ConflictError,
    EnqueueLlmRequest,
    InvalidInputError,
    InvalidRequestError,
    LlmInput,
    LlmParams,
    ModelPrice,
    NotFoundError,
    ServerError,
    WaitTimeoutError,
)
from autotune.protocol.llm_limits import ConnectionLimits
from tests.support.http_faults import Fault

KEY = "sk-secret-0123456789abcdef"


@pytest.fixture
def api(ledger):
    """The ledger's API in place of the platform's."""
    return ledger


@pytest.fixture
def connection_id(api):
    return api.new_connection()


def row(connection_id, user="Is it safe?", **fields):
    return {
        "connectionId": connection_id,
        "purpose": "scoring",
        "model": "gpt-5",
        "input": {"user": user},
        "params": {"maxTokens": 64},
        **fields,
    }


@pytest.fixture
def enqueued(api, client, connection_id):
    """Enqueue some requests, and return their ids."""

    def enqueue(count):
        rows = [row(connection_id, f"q{n}") for n in range(count)]
        return client.llm.enqueue(rows).request_ids

    return enqueue


def test_a_connection_is_made_read_listed_changed_and_revoked(api, client):
    made = client.llm.connections.create(
        name="lab",
        provider="openai",
        api_key=KEY,
        prices={"gpt-5": ModelPrice(input_usd="1.25", output_usd="10")},
        concurrency=4,
    )
    assert (made.status, made.key_version, made.key_ends_with) == ("active", 1, "cdef")
    assert api.keys[made.id] == KEY
    assert made.prices["gpt-5"].output_usd == "10"
    assert client.llm.connections.get(made.id) == made
    another = client.llm.connections.create(
        name="own", provider="simulated", base_url="https://vllm.example/v1"
    )
    assert another.key_ends_with is None
    listed = [one.id for one in client.llm.connections.list(page_size=1)]
    assert listed == [made.id, another.id]
    changed = client.llm.connections.update(
        made.id, api_key=KEY + "-new", prices={"m": {"inputUsd": "0", "outputUsd": "0"}}
    )
    assert (changed.name, changed.key_version, changed.concurrency) == ("lab", 2, 4)
    assert list(changed.prices) == ["m"]
    assert api.keys[made.id] == KEY + "-new"
    assert client.llm.connections.revoke(made.id).status == "revoked"
    with pytest.raises(NotFoundError):
        client.llm.connections.get("llc_none")


def test_limits_and_timings_are_set_by_field_and_taken_back_with_none(client):
    made = client.llm.connections.create(
        name="lab",
        provider="openai",
        api_key=KEY,
        limits=ConnectionLimits(open_jobs=3, enqueued_tokens={"gpt-5": 900_000}),
        timings={"poll_most_seconds": 300},
    )
    assert (made.limits.open_jobs, made.limits.enqueued_tokens) == (3, {"gpt-5": 900_000})
    assert (made.timings.poll_most_seconds, made.timings.poll_least_seconds) == (300, 60)
    changed = client.llm.connections.update(
        made.id, limits={"open_jobs": None, "enqueued_rows": 50}, timings={"put_off_seconds": 60}
    )
    assert (changed.limits.open_jobs, changed.limits.enqueued_rows) == (None, 50)
    assert changed.limits.enqueued_tokens == {"gpt-5": 900_000}
    assert (changed.timings.poll_most_seconds, changed.timings.put_off_seconds) == (300, 60)
    with pytest.raises(InvalidInputError, match=r"limits\.open_jobs"):
        client.llm.connections.update(made.id, limits={"open_jobs": 0})


def test_a_connection_to_bedrock_has_roles_in_place_of_a_key(api, client):
    role = "arn:aws:iam::123456789012:role/autotune-bedrock-lab"
    made = client.llm.connections.create(
        name="aws",
        provider="bedrock",
        bedrock=BedrockSettings(region="us-east-1", role_arn=role),
    )
    assert made.bedrock is not None
    assert (made.bedrock.role_arn, made.bedrock.external_id) == (role, "org_own")
    refused = [
        {"region": "us-east-1", "role_arn": "arn:aws:iam::123456789012:role/admin"},
        {"region": "example.com", "role_arn": role},
        {"region": "us-east-1", "role_arn": role, "bucket": "lab"},
        {"region": "us-east-1", "role_arn": role, "job_hours": 23},
    ]
    for bedrock in refused:
        with pytest.raises(InvalidInputError):
            client.llm.connections.create(name="aws", provider="bedrock", bedrock=bedrock)


def test_a_key_is_in_no_error_of_this_side(api, client):
    with pytest.raises(InvalidInputError, match="api_key") as caught:
        client.llm.connections.create(name="n", provider="openai", api_key=KEY + " with spaces")
    assert KEY not in f"{caught.value!r} {caught.value} {caught.value.errors}"
    with pytest.raises(InvalidInputError, match="needs a key"):
        client.llm.connections.create(name="n", provider="openai")
    with pytest.raises(InvalidInputError, match="baseUrl"):
        client.llm.connections.create(name="n", provider="azure", api_key=KEY)
    with pytest.raises(InvalidInputError, match="cannot be cleared"):
        client.llm.connections.update("llc_1", api_key=None)
    assert api.received == []


def test_a_connection_is_verified(api, client, connection_id):
    well = client.llm.connections.verify(connection_id, model="gpt-5")
    assert (well.works, well.served_model, well.cost_nano_usd) == (True, "gpt-5", 900)
    api.works = False
    refused = client.llm.connections.verify(connection_id, model="gpt-5")
    assert (refused.works, refused.error_code) == (False, "account")


def test_requests_are_enqueued_in_order_and_read_with_their_texts(api, client, connection_id):
    model = EnqueueLlmRequest(
        connection_id=connection_id,
        purpose="rubric",
        model="gpt-5",
        input=LlmInput(system="Judge.", user="{{text}}", variables={"text": "é {{x}}"}),
        params=LlmParams(max_tokens=8, temperature=0, extra={"user": None}),
        trace={"experimentId": "e1"},
        labels={"suite": "a"},
    )
    done = client.llm.enqueue([model, row(connection_id)])
    assert done.replayed == 0
    first = client.llm.get(done.request_ids[0])
    assert first.input.variables == {"text": "é {{x}}"}
    assert first.params.extra == {"user": None}
    assert (first.status, first.purpose, first.trace.experiment_id) == ("queued", "rubric", "e1")
    assert client.llm.get(done.request_ids[1]).input.user == "Is it safe?"
    (sent,) = [json.loads(one.body) for one in api.received if one.method == "POST"]
    assert "labels" not in sent["requests"][1]


def test_the_same_key_and_requests_are_enqueued_once(api, client, connection_id, monkeypatch):
    monkeypatch.setattr("autotune.client.llm_packing.limits.MAX_LLM_ROWS", 2)
    rows = [row(connection_id, f"q{n}") for n in range(5)]
    seen = []
    first = client.llm.enqueue(rows, idempotency_key="night-1", on_progress=seen.append)
    assert seen == [2, 4, 5]
    again = client.llm.enqueue(iter(rows), idempotency_key="night-1")
    assert (again.request_ids, again.replayed) == (first.request_ids, 5)
    assert [api.rows[one]["input"]["user"] for one in first.request_ids] == [
        f"q{n}" for n in range(5)
    ]
    other = client.llm.enqueue(rows, idempotency_key="night-2")
    assert not set(other.request_ids) & set(first.request_ids)
    assert len(api.rows) == 10


def test_after_a_failure_half_way_the_same_call_goes_on(api, client, connection_id, monkeypatch):
    monkeypatch.setattr("autotune.client.llm_packing.limits.MAX_LLM_ROWS", 2)
    rows = [row(connection_id, f"q{n}") for n in range(6)]
    requests = iter(rows[:4])
    wrong = [*requests, {**rows[4], "model": ""}]
    with pytest.raises(InvalidInputError, match=r"requests\[4\]\.model") as caught:
        client.llm.enqueue(wrong, idempotency_key="k")
    assert caught.value.__notes__ == [
        "requests[0] to requests[3] are enqueued",
        "idempotency_key 'k' goes on",
    ]
    whole = client.llm.enqueue(rows, idempotency_key="k")
    assert (whole.replayed, len(set(whole.request_ids)), len(api.rows)) == (4, 6, 6)


def test_a_key_that_was_made_is_named_where_the_call_fails(api, client, connection_id, no_waiting):
    api.misbehave(*[Fault(where="POST /api/v1/llm-requests/batch", status=503)] * 5)
    with pytest.raises(ServerError) as caught:
        client.llm.enqueue([row(connection_id)])
    keys = {one.headers["idempotency-key"] for one in api.received if one.method == "POST"}
    (note,) = caught.value.__notes__
    (sent,) = keys  # one key for all its attempts
    assert note == f"idempotency_key {sent.split('.')[0]!r} goes on"


def test_what_the_api_refuses_is_raised_with_its_fields(api, client, connection_id):
    with pytest.raises(InvalidRequestError, match=r"requests\[1\]\.connectionId"):
        client.llm.enqueue([row(connection_id), row("llc_" + "0" * 26)])
    assert api.rows == {}


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"purpose": "Scoring"}, "purpose"),
        ({"params": {}}, "maxTokens"),
        ({"connectionId": "gpt"}, "connectionId"),
        ({"params": {"maxTokens": 1, "extra": {"model": "m"}}}, "extra"),
        ({"params": {"maxTokens": 1, "extra": {"a": float("nan")}}}, "not JSON compliant"),
        ({"params": {"maxTokens": 1, "extra": {"a": "\ud800"}}}, "text that UTF-8 can hold"),
        ({"input": {"user": "x" * 5_000_000}}, "at most"),
        ({"unknown": 1}, "unknown"),
    ],
)
def test_a_request_out_of_range_is_named_and_nothing_is_sent(api, client, wrong, named):
    with pytest.raises(InvalidInputError, match=rf"requests\[0\].*{named}"):
        client.llm.enqueue([row("llc_" + "0" * 26, **wrong)])
    with pytest.raises(InvalidInputError, match="idempotency_key"):
        client.llm.enqueue([], idempotency_key="with spaces")
    assert api.received == []


def test_requests_are_listed_by_every_filter(api, client, connection_id, enqueued):
    ids = enqueued(5)
    api.end(ids[2])
    client.llm.enqueue([row(connection_id, purpose="rubric", trace={"experimentId": "e"})])
    assert [one.id for one in client.llm.list(purpose="scoring", page_size=2)] == ids[::-1]
    assert [one.id for one in client.llm.list(status="completed")] == [ids[2]]
    assert [one.purpose for one in client.llm.list(experiment_id="e")] == ["rubric"]
    assert list(client.llm.list(model="gpt-4")) == []
    assert len(list(client.llm.list(connection_id=connection_id, provider="openai"))) == 6


def test_all_are_waited_for_and_come_in_the_order_of_their_ids(api, client, enqueued):
    ids = enqueued(4)
    api.end(ids[0])
    api.end(ids[3], "error", error={"code": "rejected", "message": "no"})
    api.end_later(ids[2], 0.1)
    api.end_later(ids[1], 0.3)
    found = client.llm.wait(ids, timeout=20)
    assert [one.id for one in found] == ids
    assert [one.status for one in found] == ["completed", "completed", "completed", "error"]
    assert (found[1].raw_output, found[3].error.code) == ("ready", "rejected")


def test_results_come_as_they_end_and_a_late_one_keeps_none_of_the_others(api, client, enqueued):
    ids = enqueued(6)
    for row_id in ids[1:]:
        api.end(row_id)
    api.end_later(ids[0], 1.5)
    results = client.llm.results(ids, timeout=20)
    assert [next(results).id for _ in range(5)] == ids[1:]
    assert next(results).id == ids[0]
    assert list(results) == []


def test_each_end_costs_one_call_and_waiting_is_held_by_the_server(api, client, enqueued):
    ids = enqueued(30)
    for number, row_id in enumerate(ids):
        api.end_later(row_id, 0.01 * number)
    assert {one.id for one in client.llm.results(ids)} == set(ids)
    assert api.count("GET /api/v1/llm-requests/") == 30


def test_the_server_is_not_asked_in_a_tight_loop_where_it_holds_nothing(
    api, client, enqueued, monkeypatch
):
    (row_id,) = enqueued(1)
    pauses = []

    def pause(seconds):
        pauses.append(seconds)
        if len(pauses) == 6:
            api.end(row_id)

    monkeypatch.setattr("autotune.client.clients.time.sleep", pause)
    answered_at_once = {"wait_for": lambda predicate, timeout: predicate()}
    monkeypatch.setattr(api.changed, "wait_for", answered_at_once["wait_for"])
    assert client.llm.wait([row_id])[0].status == "completed"
    assert pauses == [0.4, 0.8, 1.6, 3.2, 5.0, 5.0]


def test_what_has_ended_by_the_time_out_still_comes(api, client, enqueued):
    ids = enqueued(5)
    api.end(ids[4])
    api.end_later(ids[0], 0.5)
    came = []

    def take():
        for one in client.llm.results(ids, timeout=0.3):
            came.append(one.id)  # noqa: PERF401 - what came before the error counts

    with pytest.raises(WaitTimeoutError, match=r"3 requests were still pending after 0\.3 s"):
        take()
    assert came == [ids[0], ids[4]]


def test_ids_that_cannot_be_waited_for_are_errors(client, enqueued):
    ids = enqueued(2)
    with pytest.raises(WaitTimeoutError):
        client.llm.wait([ids[1]], timeout=0.1)
    with pytest.raises(InvalidInputError, match="a list of ids"):
        client.llm.wait(ids[0])
    with pytest.raises(NotFoundError):
        client.llm.wait(["llm_none"])
    assert client.llm.wait([]) == []


def test_a_request_is_canceled_retried_and_its_texts_deleted(api, client, enqueued):
    first, second = enqueued(2)
    assert client.llm.cancel(first).status == "canceled"
    with pytest.raises(ConflictError):
        client.llm.retry(second)
    again = client.llm.retry(first)
    assert client.llm.retry(first) == again != first
    assert client.llm.get(again).retry_of == first
    api.end(second)
    client.llm.delete_content(second)
    erased = client.llm.get(second)
    assert (erased.input, erased.raw_output, erased.cost_nano_usd) == (None, None, 1_500)


def test_calls_that_say_how_things_shall_be_are_repeated(api, client, enqueued, no_waiting):
    (row_id,) = enqueued(1)
    for call in (client.llm.cancel, client.llm.retry):
        api.misbehave(Fault(where="POST", status=503))
        call(row_id)
    assert len(no_waiting) == 2


def test_batches_are_listed_read_walked_and_canceled(api, client, enqueued):
    ids = enqueued(3)
    first, second = api.new_batch(*ids), api.new_batch()
    assert [one.id for one in client.llm.batches.list(page_size=1)] == [second, first]
    job = {"stage": "unknown", "rows": 0, "candidates": ["a", "b"]}
    unclear = api.new_batch(job=job)
    (waits,) = client.llm.batches.list(needs_operator=True)
    assert (waits.id, waits.job.candidates) == (unclear, ["a", "b"])
    difference = {"costNanoUsd": -9, "assumedRows": 1, "withinTolerance": False}
    other = api.new_batch(difference=difference, reported={"costNanoUsd": 4})
    (differs,) = client.llm.batches.list(differs=True)
    assert (differs.id, differs.difference.cost_nano_usd) == (other, -9)
    assert (differs.reported.cost_nano_usd, differs.reported.usage) == (4, None)
    batch = client.llm.batches.get(first)
    assert (batch.counts.rows, batch.reserved_nano_usd) == (3, 10)
    assert [one.id for one in client.llm.batches.rows(first, page_size=2)] == ids
    assert client.llm.batches.cancel(first).status == "canceled"
    with pytest.raises(NotFoundError):
        client.llm.batches.get("lbt_none")


def test_the_asynchronous_client_does_the_same(api, connection_id):
    async def use() -> None:
        async with AsyncAutotuneClient(base_url=api.base_url, api_key=api.api_key) as client:
            assert [one.id async for one in client.llm.connections.list()] == [connection_id]
            rows = [row(connection_id, f"q{n}") for n in range(3)]
            done = await client.llm.enqueue(rows, idempotency_key="k")
            assert (await client.llm.enqueue(rows, idempotency_key="k")).replayed == 3
            for row_id in done.request_ids:
                api.end_later(row_id, 0.05)
            found = [one.id async for one in client.llm.results(done.request_ids, timeout=20)]
            assert sorted(found) == sorted(done.request_ids)
            assert len(await client.llm.wait(done.request_ids)) == 3
            batch_id = api.new_batch(*done.request_ids)
            assert (await client.llm.batches.get(batch_id)).counts.rows == 3
            assert (await client.llm.set_budget(day_usd="1")).limits.day_usd == "1"
            assert (await client.llm.estimate(rows)).fits

    asyncio.run(use())
