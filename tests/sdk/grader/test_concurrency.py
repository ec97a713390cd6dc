"""How many calls run at one time, and where."""

import asyncio
import json
import threading
import time
from typing import Any

import httpx
import pytest

from autotune.grader import GradedCompletion, grader
from autotune.protocol.ids import new_id
from autotune.protocol.signing import sign_grader_request


class Gauge:
    """Counts how many calls are inside at one time."""

    def __init__(self) -> None:
        self.now = self.most = 0
        self._lock = threading.Lock()

    def enter(self) -> None:
        with self._lock:
            self.now += 1
            self.most = max(self.most, self.now)

    def leave(self) -> None:
        with self._lock:
            self.now -= 1


@pytest.mark.parametrize("is_async", [True, False], ids=["async", "plain"])
def test_a_batch_runs_concurrently_up_to_the_bound(
    is_async: bool, secret: str, batch_event: Any, completion: Any
) -> None:
    gauge = Gauge()

    async def waiting(completion: GradedCompletion) -> float:
        gauge.enter()
        await asyncio.sleep(0.02)
        gauge.leave()
        return 1.0

    def sleeping(completion: GradedCompletion) -> float:
        gauge.enter()
        time.sleep(0.02)
        gauge.leave()
        return 1.0

    decorate = grader(name="slow", max_batch_size=20, max_concurrency=4, secrets=secret)
    graded = decorate(waiting) if is_async else decorate(sleeping)
    result = graded.lambda_handler(batch_event([completion() for _ in range(12)]))
    assert len(json.loads(result["body"])["scores"]) == 12
    assert gauge.most == 4


def test_one_at_a_time_where_the_function_is_not_thread_safe(
    secret: str, batch_event: Any, completion: Any
) -> None:
    gauge = Gauge()

    @grader(name="shy", max_concurrency=1, secrets=secret)
    def shy(completion: GradedCompletion) -> float:
        gauge.enter()
        time.sleep(0.002)
        gauge.leave()
        return 1.0

    shy.lambda_handler(batch_event([completion() for _ in range(5)]))
    assert gauge.most == 1


def test_an_async_grader_keeps_one_loop_between_invocations(secret: str, score_event: Any) -> None:
    loops: list[asyncio.AbstractEventLoop] = []

    @grader(name="loops", secrets=secret)
    async def remembering(completion: GradedCompletion) -> float:
        loops.append(asyncio.get_running_loop())
        return 1.0

    for _ in range(2):
        assert remembering.lambda_handler(score_event())["statusCode"] == 200
    assert loops[0] is loops[1]


def test_a_blocking_function_does_not_block_the_server(
    secret: str, completion: Any, serving: Any
) -> None:
    release = threading.Event()

    @grader(name="blocking", secrets=secret)
    def blocking(completion: GradedCompletion) -> float:
        release.wait(10)
        return 1.0

    request_id = new_id("req")
    body = json.dumps({"requestId": request_id, "completion": completion()}).encode()
    headers = sign_grader_request([secret], request_id=request_id, body=body)
    answers: list[int] = []

    def ask() -> None:
        answers.append(httpx.post(f"{url}/score", content=body, headers=headers).status_code)

    with serving(blocking.asgi) as url:
        asking = threading.Thread(target=ask)
        asking.start()
        try:
            assert httpx.get(f"{url}/health", timeout=5).status_code == 200
            assert answers == []
        finally:
            release.set()
            asking.join(10)
    assert answers == [200]
