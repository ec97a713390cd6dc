"""A core for what is measured, which nothing of its stand runs on.

Who waits for an answer of a process beside it on the same core comes back to caches full of that
one's data. No Lambda function shares its core with what it asks. And who comes back to a core that
fell asleep meanwhile has it slow for a while: those of Lambda's hosts have others to work for.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

import psutil

_SPIN = """
import os, sys
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
while os.getppid() == int(sys.argv[1]):
    pass
"""


@contextmanager
def own_core() -> Iterator[bool]:
    """Have this thread, and those that it starts, on one core, and all else of ours on the others.

    That is the other threads of this process, and all processes that it started, with what they
    start meanwhile. Programs of other people run where they will. One of the least priority keeps
    the core awake.

    Yields:
        Whether that is so: it takes Linux, and two cores.
    """
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set[int]()
    if len(cores) < 2:
        yield False
        return
    mine = max(cores)  # interrupts mostly go to the first
    try:
        _move(_others(), cores - {mine})
        os.sched_setaffinity(0, {mine})
        with _awake():
            yield True
    finally:
        _move(_others(), cores)
        os.sched_setaffinity(0, cores)


@contextmanager
def _awake() -> Iterator[None]:
    """Have this thread's core at work all the time; what wants it gets it at once."""
    with subprocess.Popen(  # noqa: S603 - our own
        [sys.executable, "-S", "-c", _SPIN, str(os.getpid())]
    ) as program:
        try:
            yield
        finally:
            program.kill()


def _others() -> Iterator[int]:
    """Return all threads of this process but the current one, and of all that it started."""
    this = psutil.Process()
    for process in (this, *this.children(recursive=True)):
        with suppress(psutil.Error):
            yield from {thread.id for thread in process.threads()} - {threading.get_native_id()}


def _move(threads: Iterable[int], cores: set[int]) -> None:
    for thread in threads:
        with suppress(ProcessLookupError):  # it has ended
            os.sched_setaffinity(thread, cores)
