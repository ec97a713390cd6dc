"""Processes that Ctrl-C reaches wherever the tests run."""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def _default_interrupt() -> Iterator[None]:
    """Have processes that start inside handle SIGINT by default.

    A shell lets its background jobs ignore SIGINT, and what ignores it starts processes that do.
    """
    before = signal.getsignal(signal.SIGINT)
    # What is caught, unlike what is ignored, is back at its default in a program that is started.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def start_interruptible(command: list[str], **options: Any) -> subprocess.Popen[str]:
    """Start a program that SIGINT interrupts; its output is text."""
    with _default_interrupt():
        return subprocess.Popen(command, text=True, **options)
