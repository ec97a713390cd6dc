"""Completions are scored again by one method, however many requests that takes."""

import asyncio

import pytest

from autotune import AsyncAutotuneClient, ConflictError, InvalidInputError, NotFoundError
from autotune.client.rescoring import _together
from autotune.protocol.rescoring import RescoreResponse
from tests.support.graders import healthy, scoring


@pytest.fixture
def failed(api, client):
    """Submit completions that fail; return their batch, with a grader that was mended since."""

    def submit(task_id, count=3):
        api.grader.disease = scoring(2)
        new = [
            {"task_id": task_id, "model_id": "m", "prompt": str(n), "response": "r"}
            for n in range(count)
        ]
        (batch,) = client.completions.submit_many(new)
        client.batches.wait(batch.batch_id, timeout=20)
        api.grader.disease = healthy
        return batch

    return submit


def test_a_batch_is_scored_again_and_waited_for(api, client, failed):
    batch = failed(api.new_task())
    done = client.completions.rescore(batch_id=batch.batch_id)
    assert (done.rescored, done.skipped, done.next_token) == (3, {}, None)
    assert [(one.generation, one.count) for one in done.batches] == [(1, 3)]
    after = client.batches.wait(batch.batch_id, timeout=20)
    assert (after.generation, after.counts.scored) == (1, 3)
    first = batch.completion_ids[0]
    assert client.completions.verdict(first).generation == 1
    assert client.completions.verdict(first, generation=0).state == "failed"
    with pytest.raises(NotFoundError, match="its latest is 1"):
        client.completions.verdict(first, generation=2)


def test_a_task_is_walked_through_to_its_end(api, client, failed, monkeypatch):
    task_id = api.new_task()
    batches = {failed(task_id).batch_id for _ in range(3)}
    monkeypatch.setattr("autotune_platform.completions.rescoring.MAX_RESCORED_COMPLETIONS", 1)
    done = client.completions.rescore(task_id=task_id, reason_codes=["item_malformed"])
    assert done.rescored == 9
    assert {one.batch_id for one in done.batches} == batches
    assert api.count("POST /api/v1/completions/rescore") >= 3


def test_ids_are_sent_in_parts_each_under_a_key_of_its_own(api, client, failed, monkeypatch):
    batch = failed(api.new_task())
    monkeypatch.setattr("autotune.client.rescoring.MAX_RESCORED_COMPLETIONS", 2)
    for _ in range(2):
        done = client.completions.rescore(batch.completion_ids, idempotency_key="again")
        assert done.rescored == 3
    assert client.batches.get(batch.batch_id).generation == 2


@pytest.mark.parametrize(
    ("ids", "fields", "named"),
    [
        (None, {}, "task_id|taskId"),
        ([], {}, "completion_ids|completionIds"),
        (["cmp_1"], {}, "completion_ids|completionIds"),
        (None, {"batch_id": "bat_" + "0" * 26, "states": ["pending"]}, "states"),
        (None, {"batch_id": "bat_" + "0" * 26, "deadline_seconds": 1}, "deadline"),
        (None, {"batch_id": "bat_" + "0" * 26, "idempotency_key": "x" * 193}, "idempotency_key"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_sent(client, ids, fields, named):
    with pytest.raises(InvalidInputError, match=named):
        client.completions.rescore(ids, **fields)


def test_a_batch_that_was_scored_again_too_often_is_a_conflict(api, client, failed, monkeypatch):
    batch = failed(api.new_task())
    for module in ("rescoring", "batch_rescoring"):
        monkeypatch.setattr(f"autotune_platform.completions.{module}.MAX_GENERATIONS", 0)
    with pytest.raises(ConflictError, match="scored again 0 times"):
        client.completions.rescore(batch_id=batch.batch_id)


async def _rescore(api, batch_id):
    async with AsyncAutotuneClient(base_url=api.base_url, api_key=api.api_key) as client:
        done = await client.completions.rescore(batch_id=batch_id)
        return done, await client.batches.wait(batch_id, timeout=20)


def test_the_same_on_an_event_loop(api, failed):
    done, batch = asyncio.run(_rescore(api, failed(api.new_task()).batch_id))
    assert (done.rescored, batch.counts.scored) == (3, 3)


def test_a_batch_that_two_answers_name_is_counted_once():
    batches = [{"batchId": "bat_1", "generation": 1, "count": 4}]
    answer = RescoreResponse.model_validate({"rescored": 4, "batches": batches, "skipped": {}})
    assert _together([answer, answer]).rescored == 4
