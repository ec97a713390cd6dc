"""How much work a builtin grader may make: steps for each value, and one clock for all of it.

What an owner configures and what a model answers decide together how long judging takes: think of
a reference that doubles itself, or of a pattern that RE2 compiles to thousands of instructions.
Steps are charged before they are done and make the same completion fail everywhere. The clock ends
what no step counts, such as what a library does beside its keywords; ordinary judgements take
hundredths of it.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from autotune.protocol.limits import MAX_BUILTIN_CPU_SECONDS, MAX_BUILTIN_STEPS
from autotune_platform.checks.faults import CompletionFaultError

_steps_left: ContextVar[int] = ContextVar("steps_left", default=0)
_ends_at: ContextVar[float | None] = ContextVar("ends_at", default=None)


@contextmanager
def cpu_limit() -> Iterator[None]:
    """Let everything inside take ``MAX_BUILTIN_CPU_SECONDS`` of this thread's processor time."""
    token = _ends_at.set(time.thread_time() + MAX_BUILTIN_CPU_SECONDS)
    try:
        yield
    finally:
        _ends_at.reset(token)


@contextmanager
def step_budget(steps: int = MAX_BUILTIN_STEPS) -> Iterator[None]:
    """Let everything inside take so many steps together."""
    token = _steps_left.set(steps)
    try:
        yield
    finally:
        _steps_left.reset(token)


def take(steps: int, *, seconds: float = 0) -> None:
    """Charge steps that are about to be done.

    Args:
        seconds: how long they may take at worst.

    Raises:
        CompletionFaultError: the budget has fewer left, or the time is over.
    """
    left = _steps_left.get() - steps
    ends_at = _ends_at.get()
    if left < 0 or (ends_at is not None and time.thread_time() + seconds > ends_at):
        raise CompletionFaultError("builtin_input_too_large")
    _steps_left.set(left)
