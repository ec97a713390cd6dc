"""Functions of the local stack that take more memory than they have: they are killed."""

import gc
import io
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ministack.core import lambda_runtime
from ministack.services import lambda_svc

from local.memory_limits import KILLS, MemoryLimits, exit_error, kills_in

HANDLER = """
import time

def handle(event, context):
    held = bytearray(event["mb"] * 1024 * 1024)
    if event["stays"]:
        time.sleep(60)
    return len(held)
"""

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # MiniStack leaves a dead worker's pipes
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def reads_a_pipe(thread: threading.Thread) -> bool:
    target = getattr(thread, "_target", None)
    return getattr(target, "__func__", None) is lambda_runtime.Worker._read_stderr


@pytest.fixture
def limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MemoryLimits]:
    limits = MemoryLimits(tmp_path / KILLS)
    monkeypatch.setattr(
        lambda_runtime.Worker, "invoke", limits.invoking(lambda_runtime.Worker.invoke)
    )
    yield limits
    lambda_runtime.reset()
    # Pipes go here, where warnings of them are ignored, and in no other test: a thread that still
    # reads one holds it.
    for thread in threading.enumerate():
        if reads_a_pipe(thread):
            thread.join(timeout=10)
    gc.collect()


def invoke(*, mb: int, stays: bool = False) -> dict[str, Any]:
    code = io.BytesIO()
    with zipfile.ZipFile(code, "w") as archive:
        archive.writestr("takes.py", HANDLER)
    config = {
        "FunctionName": "takes",
        "FunctionArn": "arn:aws:lambda:us-east-1:000000000000:function:takes",
        "Runtime": f"python3.{sys.version_info.minor}",
        "Handler": "takes.handle",
        "MemorySize": 256,
        "Timeout": 50,
    }
    execute = exit_error(lambda_svc._execute_function_warm)
    record = {"config": config, "code_zip": code.getvalue()}
    answer: dict[str, Any] = execute(record, {"mb": mb, "stays": stays}, "request-1")
    return answer


def test_a_function_within_its_memory_answers(limits: MemoryLimits, tmp_path: Path) -> None:
    assert invoke(mb=50)["body"] == 50 * 1024 * 1024
    assert kills_in(tmp_path) == []


def test_a_function_over_its_memory_is_killed_at_work(limits: MemoryLimits, tmp_path: Path) -> None:
    limits.start()
    started = time.monotonic()
    answer = invoke(mb=400, stays=True)
    assert time.monotonic() - started < 30
    assert answer["error"] is True
    assert answer["body"]["errorType"] == "Runtime.ExitError"
    assert "Runtime exited with error: signal: killed" in answer["body"]["errorMessage"]
    assert "Runtime exited with error: signal: killed" in answer["log"]
    (kill,) = kills_in(tmp_path)
    assert (kill["function"], kill["limit_mb"]) == ("takes", 256)
    assert kill["used_mb"] >= 256  # of whole megabytes


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux remembers a process's peak")
def test_a_peak_between_two_looks_counts(limits: MemoryLimits, tmp_path: Path) -> None:
    assert invoke(mb=400)["body"]["errorType"] == "Runtime.ExitError"  # nobody looked meanwhile
    assert len(kills_in(tmp_path)) == 1


def test_after_a_kill_the_function_is_started_anew(limits: MemoryLimits, tmp_path: Path) -> None:
    limits.start()
    invoke(mb=400, stays=True)
    assert invoke(mb=10)["body"] == 10 * 1024 * 1024
    assert len(kills_in(tmp_path)) == 1
