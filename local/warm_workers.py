"""Has MiniStack's functions wait for a warm worker before another is started, and fail alone.

What takes more memory than its function has is killed (``local.memory_limits``).

MiniStack starts a process for each invocation that finds none idle, as AWS does. On AWS that costs
the other invocations nothing. On a laptop each start takes most of a second of CPU from all of
them: they take longer, more of them overlap, so more workers are started. At 26 completions a
second, two cores got to over a thousand invocations under way, and never back.

Where a worker does not start, MiniStack ends all workers of its function. Those of them that are
just starting fail by that, and end the next ones: after one was killed, all invocations of a
function could fail for a minute.
"""

import os
import time
from collections import defaultdict
from collections.abc import Callable
from functools import partialmethod, wraps
from pathlib import Path
from threading import Event, Lock
from typing import Any

import psutil
from ministack.core import lambda_runtime
from ministack.services import lambda_svc

from local.memory_limits import KILLS, MemoryLimits, exit_error

AT_ONCE = 2 * (os.cpu_count() or 1)
"""Workers of one function that are started without waiting."""

SECONDS_A_WORKER = 0.1
"""What an invocation waits longer for each worker that there is beyond those."""

SECONDS_A_WORKER_WHEN_BUSY = 0.5
"""The same while the machine's cores are taken, when another process helps nobody."""

_IDLE_SHARE = 0.2
_SAMPLE_SECONDS = 0.5
_LOG_SECONDS = 0.005
_LONGEST_START_SECONDS = 10


def install() -> None:
    """Change the MiniStack of this process."""
    workers = PatientWorkers()
    lambda_svc.acquire_worker = workers.acquire
    lambda_svc.release_worker = workers.release
    memory = MemoryLimits(Path(KILLS).absolute())
    memory.start()
    lambda_runtime.Worker.invoke = memory.invoking(failing_alone(lambda_runtime.Worker.invoke))
    lambda_svc._execute_function_warm = exit_error(lambda_svc._execute_function_warm)  # noqa: SLF001 - it has no setting
    # After a call that logged nothing a worker is held for 50 ms more, and asked every one of them
    # for a line: it writes its lines before its answer, so that a few are enough.
    lambda_runtime.Worker._drain_stderr_bounded = partialmethod(  # noqa: SLF001 - it has no setting
        lambda_runtime.Worker._drain_stderr_bounded,  # noqa: SLF001
        first_line_wait=_LOG_SECONDS,
    )


def failing_alone(invoke: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """Have a worker that does not start answer so, instead of raising what ends the others."""

    @wraps(invoke)
    def invoke_alone(worker: Any, *event: Any, **context: Any) -> dict[str, Any]:
        try:
            return invoke(worker, *event, **context)
        except Exception as error:  # noqa: BLE001 - whatever it is, other workers are well
            lambda_runtime.kill_workers([worker])  # half started, it would take what it cannot do
            return {"status": "error", "error": f"{type(error).__name__}: {error}"}

    return invoke_alone


class PatientWorkers:
    """Leases workers as ``ministack.core.lambda_runtime`` does; the more there are, the later.

    Args:
        is_busy: whether the machine has no core to spare.
    """

    def __init__(self, is_busy: Callable[[], bool] | None = None) -> None:
        self._is_busy = is_busy or Machine().is_busy
        self._lines: defaultdict[str, _Line] = defaultdict(_Line)

    def acquire(self, name: str, *function: Any, **version: Any) -> tuple[Any, str]:
        """Return a worker, once one is free or may be started, and which of both it was."""
        arrived = time.monotonic()
        line = self._lines[name]
        # One at a time looks for a worker: hundreds that wait do not wake each other.
        with line.first:
            while True:
                line.freed.clear()
                worker, reason = lambda_runtime.acquire_worker(
                    name,
                    *function,
                    **version,
                    max_concurrency=self._most(line, time.monotonic() - arrived),
                )
                if worker is not None:
                    line.lease(worker)
                    return worker, reason
                line.freed.wait(SECONDS_A_WORKER)

    def release(self, worker: Any) -> None:
        """Take a worker back, and wake who waits for one of its function."""
        lambda_runtime.release_worker(worker)
        if worker is not None:
            line = self._lines[worker.func_name]
            line.give_back(worker)
            line.freed.set()

    def _most(self, line: "_Line", waited: float) -> int:
        """Return how many workers a function may have for one that waited so long."""
        if line.is_starting():
            return AT_ONCE
        each = SECONDS_A_WORKER_WHEN_BUSY if self._is_busy() else SECONDS_A_WORKER
        return AT_ONCE + int(waited / each)


class _Line:
    """Who waits for a worker of a function."""

    def __init__(self) -> None:
        self.first = Lock()
        self.freed = Event()
        self._starting: Any = None
        self._leased_at = 0.0

    def lease(self, worker: Any) -> None:
        """Note that a worker was leased."""
        if worker._cold:  # noqa: SLF001 - nothing else tells
            self._starting, self._leased_at = worker, time.monotonic()

    def give_back(self, worker: Any) -> None:
        """Note that a worker is free: if it has not started by now, its start failed."""
        if worker is self._starting:
            self._starting = None

    def is_starting(self) -> bool:
        """Return whether a worker is on its way; one that takes very long may never come."""
        worker = self._starting
        started_lately = time.monotonic() - self._leased_at < _LONGEST_START_SECONDS
        return worker is not None and worker._cold and started_lately  # noqa: SLF001


class Machine:
    """How much of the machine's cores was taken lately."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._is_busy = False
        self._sampled_at = time.monotonic()
        # Not psutil's share, which is of the time since the same thread asked.
        self._times = psutil.cpu_times()

    def is_busy(self) -> bool:
        """Return whether there was no core to spare half a second ago or later."""
        with self._lock:
            now = time.monotonic()
            if now - self._sampled_at >= _SAMPLE_SECONDS:
                before, self._times, self._sampled_at = self._times, psutil.cpu_times(), now
                passed = sum(self._times) - sum(before)
                idle = self._times.idle - before.idle
                self._is_busy = idle < passed * _IDLE_SHARE
            return self._is_busy
