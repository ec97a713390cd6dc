import asyncio
import dataclasses
import threading

import pytest

from autotune import AsyncAutotuneClient, InvalidInputError, InvalidRequestError, ServerError
from tests.support.http_faults import Fault


def completions(task_id, count, start=0):
    for number in range(start, start + count):
        yield {"taskId": task_id, "modelId": "m", "prompt": f"p{number}", "response": "r"}


async def drain(batches):
    async for _ in batches:
        pass


def test_batches_come_in_order_with_their_offsets(api, client):
    task_id = api.new_task()
    api.misbehave(Fault(delay_seconds=0.2))
    batches = list(client.completions.submit_many(completions(task_id, 25), batch_size=6))
    assert [batch.offset for batch in batches] == [0, 6, 12, 18, 24]
    assert [len(batch.completion_ids) for batch in batches] == [6, 6, 6, 6, 1]
    assert client.completions.get(batches[3].completion_ids[0]).prompt == "p18"


def test_the_same_submission_adds_nothing_the_second_time(api, client):
    task_id = api.new_task()
    first = list(
        client.completions.submit_many(completions(task_id, 15), batch_size=4, idempotency_key="k")
    )
    again = list(
        client.completions.submit_many(completions(task_id, 15), batch_size=4, idempotency_key="k")
    )
    assert [one.batch_id for one in first] == [one.batch_id for one in again]
    assert not any(one.replayed for one in first)
    assert all(one.replayed for one in again)
    assert len(api.stored()) == 15


def test_a_submission_without_a_key_is_new_each_time(api, client):
    task_id = api.new_task()
    for _ in range(2):
        list(client.completions.submit_many(completions(task_id, 3)))
    assert len(api.stored()) == 6


def test_equal_completions_stay_distinct(api, client):
    task_id = api.new_task()
    same = [next(completions(task_id, 1))] * 6
    list(client.completions.submit_many(same, batch_size=2, idempotency_key="k"))
    assert len(api.stored()) == 6


def test_failures_in_between_submit_nothing_twice(api, client):
    task_id = api.new_task()
    client._session = dataclasses.replace(client.session, jitter=lambda low, high: 0.0)
    api.misbehave(*[Fault(drop_after=True), Fault(status=503), Fault(drop_before=True)] * 2)
    list(client.completions.submit_many(completions(task_id, 30), batch_size=3))
    assert len(api.stored()) == 30


def test_the_iterable_is_read_no_further_than_needed(api, client):
    task_id = api.new_task()
    read = []

    def source():
        for item in completions(task_id, 1000):
            read.append(item)
            yield item

    batches = client.completions.submit_many(source(), batch_size=10, concurrency=2)
    assert read == []
    next(batches)
    assert len(read) <= 31
    batches.close()
    assert len(api.stored()) <= 30


def test_no_more_requests_run_than_asked_for(api, client):
    task_id = api.new_task()
    running, most = 0, 0
    lock = threading.Lock()
    enough = threading.Event()

    def count(request):
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
            if most == 3:
                enough.set()
        enough.wait(5)
        with lock:
            running -= 1

    api.before_answer = count
    list(client.completions.submit_many(completions(task_id, 12), batch_size=1, concurrency=3))
    assert most == 3


def test_an_invalid_completion_stops_before_its_batch_and_after_those_before_it(api, client):
    task_id = api.new_task()
    source = [*completions(task_id, 25), {"prompt": "no task"}]
    accepted = []
    with pytest.raises(InvalidInputError, match=r"completions\[25\]"):
        accepted.extend(
            batch.offset for batch in client.completions.submit_many(source, batch_size=10)
        )
    assert len(api.stored()) == 20


def test_a_refused_batch_names_its_completions(api, client):
    task_id = api.new_task()
    source = [*completions(task_id, 10), *completions("task_" + "0" * 26, 5)]
    with pytest.raises(InvalidRequestError) as caught:
        list(client.completions.submit_many(source, batch_size=10))
    assert "completions[10] to completions[14]" in caught.value.__notes__[0]
    assert len(api.stored()) == 10


def test_no_completions_are_no_requests(api, client):
    assert list(client.completions.submit_many([])) == []
    assert api.received == []


def test_the_asynchronous_client_takes_any_kind_of_iterable(api):
    task_id = api.new_task()

    async def produced():
        for item in completions(task_id, 25):
            await asyncio.sleep(0)
            yield item

    async def use() -> None:
        async with AsyncAutotuneClient(base_url=api.base_url, api_key=api.api_key) as client:
            submit_many = client.completions.submit_many
            sizes = [
                len(batch.completion_ids) async for batch in submit_many(produced(), batch_size=10)
            ]
            assert sizes == [10, 10, 5]
            offsets = [
                batch.offset async for batch in submit_many(completions(task_id, 25), batch_size=10)
            ]
            assert offsets == [0, 10, 20]
            broken = submit_many([*completions(task_id, 12), {}], batch_size=5)
            assert [(await anext(broken)).offset for _ in range(2)] == [0, 5]
            with pytest.raises(InvalidInputError, match=r"completions\[12\]"):
                await anext(broken)

    asyncio.run(use())
    assert len(api.stored()) == 60


def test_an_asynchronous_failure_ends_what_is_still_running(api):
    task_id = api.new_task()
    api.misbehave(Fault(status=500, code="internal_error"), Fault(delay_seconds=0.3))

    async def use() -> None:
        async with AsyncAutotuneClient(
            base_url=api.base_url, api_key=api.api_key, max_retries=0
        ) as client:
            batches = client.completions.submit_many(completions(task_id, 20), batch_size=10)
            with pytest.raises(ServerError):
                await drain(batches)
            assert len(asyncio.all_tasks()) == 1

    asyncio.run(use())
