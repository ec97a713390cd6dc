"""One line a step, with the seconds that it took."""

import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol


class Progress(Protocol):
    """Where steps are reported."""

    def step(self, title: str) -> AbstractContextManager[None]:
        """A context around one step."""
        ...


class PrintedProgress:
    """Prints a step's title when it begins, and its duration when it ended."""

    @contextmanager
    def step(self, title: str) -> Iterator[None]:
        """Prints one line, ``title ... 1.2 s`` or ``title ... failed``."""
        print(f"  {title} ... ", end="", flush=True)
        started = time.monotonic()
        outcome = "failed"
        try:
            yield
            outcome = f"{time.monotonic() - started:.1f} s"
        finally:
            print(outcome, file=sys.stdout, flush=True)


class SilentProgress:
    """Says nothing."""

    @contextmanager
    def step(self, title: str) -> Iterator[None]:  # noqa: ARG002 (the protocol's signature)
        """Runs the step."""
        yield
