"""What is measured has a core that nothing of its stand runs on."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import psutil
import pytest

from benchmarks.gateways.own_core import own_core

pytestmark = pytest.mark.skipif(
    not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) < 2,
    reason="the system has no cores to choose from",
)
_WITH_A_THREAD = """
import subprocess, sys, threading
threading.Thread(target=threading.Event().wait, daemon=True).start()
print("began", flush=True)
for _ in sys.stdin:
    subprocess.run([sys.executable, "-c", "import os; print(os.sched_getaffinity(0), flush=True)"])
"""


@pytest.fixture
def beside() -> Iterator["subprocess.Popen[str]"]:
    """A process of two threads, which starts another one for each line that it is sent."""
    with subprocess.Popen(
        [sys.executable, "-c", _WITH_A_THREAD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield process
        finally:
            process.terminate()


def _cores_of(process: "subprocess.Popen[str]") -> list[set[int]]:
    threads = psutil.Process(process.pid).threads()
    assert len(threads) == 2
    return [os.sched_getaffinity(thread.id) for thread in threads]


def _cores_of_a_new_thread() -> set[int]:
    found: list[set[int]] = []
    thread = threading.Thread(target=lambda: found.append(os.sched_getaffinity(0)))
    thread.start()
    thread.join()
    return found[0]


def _cores_of_a_new_process(beside: "subprocess.Popen[str]") -> str:
    assert beside.stdin is not None
    assert beside.stdout is not None
    beside.stdin.write("\n")
    beside.stdin.flush()
    return beside.stdout.readline().strip()


def test_nothing_else_of_ours_is_on_the_core(beside: "subprocess.Popen[str]") -> None:
    cores = os.sched_getaffinity(0)
    with own_core() as has_one:
        mine = os.sched_getaffinity(0)
        assert has_one
        assert len(mine) == 1
        assert _cores_of_a_new_thread() == mine
        assert _cores_of(beside) == [cores - mine] * 2
        assert _cores_of_a_new_process(beside) == str(cores - mine)


def test_the_core_is_kept_awake_at_the_least_priority() -> None:
    before = set(psutil.Process().children())
    with own_core():
        (program,) = set(psutil.Process().children()) - before
        until = time.monotonic() + 10
        while os.sched_getscheduler(program.pid) != os.SCHED_IDLE:
            assert time.monotonic() < until
            time.sleep(0.01)
        assert os.sched_getaffinity(program.pid) == os.sched_getaffinity(0)
    assert not program.is_running()


def test_all_cores_are_everybodys_again(beside: "subprocess.Popen[str]") -> None:
    cores = os.sched_getaffinity(0)
    with pytest.raises(ValueError, match="measured"), own_core():
        raise ValueError("measured")
    assert os.sched_getaffinity(0) == cores
    assert _cores_of_a_new_thread() == cores
    assert _cores_of(beside) == [cores, cores]
    assert _cores_of_a_new_process(beside) == str(cores)


def test_who_has_one_core_shares_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    with own_core() as has_one:
        assert not has_one
