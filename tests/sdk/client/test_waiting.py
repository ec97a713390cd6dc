import asyncio
import threading
from types import SimpleNamespace

import pytest

from autotune import AsyncAutotuneClient, WaitTimeoutError
from autotune.protocol.access import OrganizationLimits
from tests.support.clock import StandingClock
from tests.support.http_faults import Fault


def submit(api, client, count=3):
    task_id = api.new_task()
    items = [
        {"taskId": task_id, "modelId": "m", "prompt": str(n), "response": "r"} for n in range(count)
    ]
    return next(client.completions.submit_many(items))


def test_waiting_ends_with_the_verdict(api, client):
    api.grading_seconds = None
    batch = submit(api, client)
    assert client.completions.verdict(batch.completion_ids[0]).state == "pending"
    assert client.batches.get(batch.batch_id).counts.pending == 3
    grading = threading.Timer(0.3, api.platform.score)
    grading.start()
    verdict = client.completions.wait_for_score(batch.completion_ids[0], timeout=10)
    grading.join()
    assert verdict.state == "scored"
    whole = client.batches.wait(batch.batch_id)
    assert (whole.counts.expected, whole.counts.scored) == (3, 3)
    assert [one.completion_id for one in whole.verdicts] == batch.completion_ids


def test_the_server_holds_the_request(api, client):
    api.grading_seconds = 0.5
    batch = submit(api, client)
    client.completions.wait_for_score(batch.completion_ids[0])
    polls = [one.query for one in api.received if one.path.endswith("/score")]
    assert polls == ["wait=20"]


def test_a_gateway_that_cuts_the_hold_short_does_not_end_the_wait(api, client):
    api.grading_seconds = 0.4
    batch = submit(api, client)
    api.misbehave(Fault(where="GET /api/v1/batches", status=504, body=b"", content_type=""))
    assert client.batches.wait(batch.batch_id, timeout=20).counts.pending == 0


def test_an_api_that_lets_nobody_wait_is_asked_ever_less_often(api, client, monkeypatch):
    """An organisation of which as many reads wait as may is answered at once."""
    nobody = OrganizationLimits(waiting_requests=0)
    monkeypatch.setattr("autotune_platform.access.models.Organization.limits", nobody)
    api.grading_seconds = 60
    batch = submit(api, client)
    clock = StandingClock()
    passed = SimpleNamespace(monotonic=lambda: sum(clock.slept))
    monkeypatch.setattr("autotune.client.waiting.time", passed)
    monkeypatch.setattr("autotune.client.clients.time", clock)
    with pytest.raises(WaitTimeoutError):
        client.completions.wait_for_score(batch.completion_ids[0], timeout=2.5)
    polls = [one for one in api.received if one.path.endswith("/score")]
    assert len(polls) == 4
    assert clock.slept == pytest.approx([0.4, 0.8, 1.3])


def test_waiting_gives_up_when_the_time_is_over(api, client):
    api.grading_seconds = 60
    batch = submit(api, client)
    with pytest.raises(WaitTimeoutError, match=rf"{batch.completion_ids[0]}.*0\.3 s"):
        client.completions.wait_for_score(batch.completion_ids[0], timeout=0.3)
    with pytest.raises(WaitTimeoutError, match=batch.batch_id):
        client.batches.wait(batch.batch_id, timeout=0)


def test_the_asynchronous_client_waits_for_many_at_once(api, client):
    api.grading_seconds = 0.3
    batch = submit(api, client)

    async def use() -> None:
        async with AsyncAutotuneClient(base_url=api.base_url, api_key=api.api_key) as opened:
            verdicts = await asyncio.gather(
                *(opened.completions.wait_for_score(id_) for id_ in batch.completion_ids)
            )
            assert {verdict.state for verdict in verdicts} == {"scored"}
            assert (await opened.batches.wait(batch.batch_id)).counts.scored == 3

    asyncio.run(use())
