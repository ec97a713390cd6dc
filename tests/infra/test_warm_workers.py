"""The patience of invocations on the local stack, with MiniStack's own pool of workers."""

import io
import threading
import time
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from ministack.core import lambda_runtime
from ministack.services import lambda_svc

from local.warm_workers import AT_ONCE, Machine, PatientWorkers, failing_alone

NAME = "waits"
ARN = f"arn:aws:lambda:us-east-1:000000000000:function:{NAME}"
FUNCTION = (NAME, {"FunctionName": NAME, "FunctionArn": ARN, "Runtime": "python3.13"}, b"")


@pytest.fixture(autouse=True)
def pool() -> Iterator[None]:
    yield
    lambda_runtime._workers.clear()


@pytest.fixture
def workers() -> PatientWorkers:
    return PatientWorkers(is_busy=lambda: False)


def lease(workers: PatientWorkers, *, warm: bool = True) -> tuple[Any, str]:
    worker, how = workers.acquire(*FUNCTION)
    if warm:
        worker._cold = False
    return worker, how


def leased_in_a_thread(workers: PatientWorkers) -> tuple[threading.Thread, list[str]]:
    how: list[str] = []
    thread = threading.Thread(target=lambda: how.append(workers.acquire(*FUNCTION)[1]))
    thread.start()
    return thread, how


def assert_waits_for(worker: Any, workers: PatientWorkers) -> None:
    waiting, how = leased_in_a_thread(workers)
    waiting.join(timeout=0.5)
    assert waiting.is_alive()
    workers.release(worker)
    waiting.join(timeout=10)
    assert how == ["reused"]


def test_a_few_workers_start_at_once(workers: PatientWorkers) -> None:
    assert [lease(workers)[1] for _ in range(AT_ONCE)] == ["spawn"] * AT_ONCE


def test_the_next_takes_the_first_that_is_free(
    workers: PatientWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("local.warm_workers.SECONDS_A_WORKER", 600)
    leased = [lease(workers)[0] for _ in range(AT_ONCE)]
    waiting, how = leased_in_a_thread(workers)
    workers.release(leased[0])
    waiting.join(timeout=10)
    assert how == ["reused"]


def test_another_worker_starts_for_one_that_waited(workers: PatientWorkers) -> None:
    for _ in range(AT_ONCE):
        lease(workers)
    waiting, how = leased_in_a_thread(workers)
    waiting.join(timeout=10)
    assert how == ["spawn"]


def test_no_other_starts_while_one_is_on_its_way(workers: PatientWorkers) -> None:
    first = [lease(workers)[0] for _ in range(AT_ONCE)]
    on_its_way, _ = lease(workers, warm=False)
    assert_waits_for(first[0], workers)
    assert on_its_way._cold


def test_on_a_busy_machine_it_waits_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    workers = PatientWorkers(is_busy=lambda: True)
    # Of minutes: this machine may be busy indeed.
    monkeypatch.setattr("local.warm_workers.SECONDS_A_WORKER_WHEN_BUSY", 600)
    first = [lease(workers)[0] for _ in range(AT_ONCE)]
    assert_waits_for(first[0], workers)


def test_hundreds_that_wait_all_get_one_of_the_few(workers: PatientWorkers) -> None:
    def work() -> None:
        worker, _ = lease(workers)
        time.sleep(0.001)
        workers.release(worker)

    with ThreadPoolExecutor(200) as threads:
        for done in [threads.submit(work) for _ in range(400)]:
            done.result(timeout=60)
    (pool,) = lambda_runtime._workers.values()
    assert all(not worker.in_use for worker in pool)


class Times(NamedTuple):
    """Seconds of CPU, as psutil has them."""

    user: float
    idle: float


def test_a_machine_is_busy_when_its_cores_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([Times(0.0, 0.0), Times(1.9, 0.1), Times(2.0, 2.0)])
    monkeypatch.setattr("local.warm_workers.psutil.cpu_times", lambda: next(times))
    monkeypatch.setattr("local.warm_workers._SAMPLE_SECONDS", 0.0)
    machine = Machine()
    with ThreadPoolExecutor() as threads:
        assert threads.submit(machine.is_busy).result()
    assert not machine.is_busy()


HANDLER = """
import os, pathlib, time

folder = pathlib.Path({folder!r})
if (folder / "exits").exists():
    os._exit(1)
if (folder / "raises").exists():
    raise RuntimeError("not today")

def handle(event, context):
    (folder / "started").touch()
    while not (folder / "go on").exists():
        time.sleep(0.01)
    return "done"
"""


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # MiniStack leaves a dead worker's pipes
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(
    ("how", "said"), [("exits", "Worker process exited immediately"), ("raises", "not today")]
)
def test_a_worker_that_does_not_start_ends_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str, said: str
) -> None:
    monkeypatch.setattr(
        lambda_runtime.Worker, "invoke", failing_alone(lambda_runtime.Worker.invoke)
    )
    code = io.BytesIO()
    with zipfile.ZipFile(code, "w") as archive:
        archive.writestr("waits.py", HANDLER.format(folder=str(tmp_path)))
    config = {**FUNCTION[1], "Handler": "waits.handle", "Timeout": 60}

    def invoke() -> dict[str, Any]:
        record = {"config": config, "code_zip": code.getvalue()}
        answer: dict[str, Any] = lambda_svc._execute_function_warm(record, {}, "request")
        return answer

    try:
        with ThreadPoolExecutor() as threads:
            running = threads.submit(invoke)
            while not (tmp_path / "started").exists():
                assert not running.done(), running.result()
                time.sleep(0.01)
            (tmp_path / how).touch()
            for _ in range(2):  # the second time with the same worker
                assert said in invoke()["body"]["errorMessage"]
            (tmp_path / "go on").touch()
            assert running.result()["body"] == "done"
    finally:
        (tmp_path / "go on").touch()
        lambda_runtime.reset()
