"""A core for what is measured, which nothing of its stand runs on.

Who waits for an answer of a process beside it on the same core comes back to caches full of that
one's data. No Lambda function shares its core with what it asks.
"""

import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

import psutil


@contextmanager
def own_core() -> Iterator[bool]:
    """Have this thread, and those that it starts, on one core, and all else of ours on the others.

    That is the other threads of this process, and all processes that it started, with what they
    start meanwhile. Programs of other people run where they will.

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
        yield True
    finally:
        _move(_others(), cores)
        os.sched_setaffinity(0, cores)


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
