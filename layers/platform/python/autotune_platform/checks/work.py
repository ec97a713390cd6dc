"""How much work one builtin grader may make of one completion, counted in steps.

What an owner configures and what a model answers decide together how long judging takes: think of
a reference that doubles itself, or of a pattern that RE2 compiles to thousands of instructions.
Work is charged before it is done, so that a judgement ends at its budget and not after it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from autotune.protocol.limits import MAX_BUILTIN_STEPS
from autotune_platform.checks.faults import CompletionFaultError

_steps_left: ContextVar[int] = ContextVar("steps_left", default=0)


@contextmanager
def step_budget() -> Iterator[None]:
    """Let everything inside take ``MAX_BUILTIN_STEPS`` steps together."""
    token = _steps_left.set(MAX_BUILTIN_STEPS)
    try:
        yield
    finally:
        _steps_left.reset(token)


def take(steps: int) -> None:
    """Charge steps that are about to be done.

    Raises:
        CompletionFaultError: the budget has fewer left.
    """
    left = _steps_left.get() - steps
    if left < 0:
        raise CompletionFaultError("builtin_input_too_large")
    _steps_left.set(left)
