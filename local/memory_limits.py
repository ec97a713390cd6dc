"""Kills functions of the local stack that take more memory than they have, as Lambda does.

MiniStack's workers are plain processes with all of the machine's memory. ``RLIMIT_AS`` is of no
use: it counts addresses, of which ten threads have a gigabyte. So resident memory is looked at, and
on Linux its peak, which no sample misses. All of a process counts, Python and libraries too.
"""

import json
import logging
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import Any

import psutil

KILLS = "killed-for-memory.jsonl"
"""In MiniStack's folder: a line for each function that was killed."""

EXIT_ERROR = "Runtime.ExitError"
_SAMPLE_SECONDS = 0.1
_LAMBDA_LEAST_MB = 128

logger = logging.getLogger(__name__)


class MemoryLimits:
    """Watches the workers that are at an invocation.

    Args:
        kills: the file that each kill is written into.
    """

    def __init__(self, kills: Path) -> None:
        self._kills = kills
        self._watched: dict[int, Any] = {}
        self._killed: dict[int, str] = {}
        self._lock = threading.Lock()

    def start(self) -> None:
        """Look at the workers ten times a second, for as long as this process lives."""
        threading.Thread(target=self._watch, name="memory-limits", daemon=True).start()

    def invoking(self, invoke: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
        """Have a worker's invocation end as Lambda ends one that ran out of memory."""

        @wraps(invoke)
        def invoke_within_memory(
            worker: Any, event: Any, request_id: str, **context: Any
        ) -> dict[str, Any]:
            with self._lock:
                self._watched[id(worker)] = worker
            try:
                answer = invoke(worker, event, request_id, **context)
                self.look_at(worker)
            finally:
                with self._lock:
                    del self._watched[id(worker)]
                    killed = self._killed.pop(id(worker), None)
            if killed is None:
                return answer
            error = (
                f"RequestId: {request_id} Error: Runtime exited with error: signal: killed "
                f"({killed})"
            )
            return {**answer, "status": "error", "error": error, "trace": f"{error} {EXIT_ERROR}"}

        return invoke_within_memory

    def look_at(self, worker: Any) -> None:
        """Kill a worker that takes more than its function has, or took it since it started."""
        process = worker._proc  # noqa: SLF001 - nothing else tells
        limit_mb = worker.config.get("MemorySize", _LAMBDA_LEAST_MB)
        if process is None or process.poll() is not None:
            return
        used_mb = peak_mb(process.pid)
        if used_mb <= limit_mb:
            return
        with self._lock:
            if id(worker) in self._killed:
                return
            self._killed[id(worker)] = f"{used_mb:.0f} MB of {limit_mb} MB"
        process.kill()
        process.wait()
        self._record(worker.func_name, used_mb, limit_mb)

    def _record(self, function: str, used_mb: float, limit_mb: int) -> None:
        logger.error("%s was killed: it took %.0f MB, of %d", function, used_mb, limit_mb)
        line = {
            "function": function,
            "used_mb": round(used_mb),
            "limit_mb": limit_mb,
            "at": datetime.now(UTC).isoformat(),
        }
        with self._lock, self._kills.open("a") as file:
            file.write(json.dumps(line) + "\n")

    def _watch(self) -> None:
        pause = threading.Event()
        while not pause.wait(_SAMPLE_SECONDS):
            with self._lock:
                watched = list(self._watched.values())
            for worker in watched:
                with suppress(Exception):  # it ended just now; the watch goes on
                    self.look_at(worker)


def exit_error(execute: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """Give the error of a killed function the type that Lambda gives it."""

    @wraps(execute)
    def execute_typed(*function: Any, **invocation: Any) -> dict[str, Any]:
        result = execute(*function, **invocation)
        body = result.get("body")
        if result.get("error") and isinstance(body, dict):
            message = body.get("errorMessage") or ""
            if "Runtime exited with error: signal: killed" in message:
                body["errorType"] = EXIT_ERROR
        return result

    return execute_typed


def peak_mb(pid: int) -> float:
    """Return the most resident memory that a process ever took; what it takes now off Linux.

    0 for a process that is gone.
    """
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    try:
        return float(psutil.Process(pid).memory_info().rss) / 1024**2
    except psutil.Error:
        return 0.0


def kills_in(directory: Path) -> list[dict[str, Any]]:
    """Return what was killed by the MiniStack of a folder, and with how much memory."""
    try:
        lines: Iterable[str] = (directory / KILLS).read_text().splitlines()
    except FileNotFoundError:
        return []
    return [json.loads(line) for line in lines]
