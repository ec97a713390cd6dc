"""Regular expressions of grader owners, in bounded time (RE2).

RE2 looks at each byte of a text once, but at worst it follows every instruction of the compiled
pattern there: about 5 ns for each instruction and byte, 42 s for 40,000 instructions and 200,000
bytes. So each search is charged its instructions times its bytes before it starts. A search for
further matches may read on to the end of the text each time, which no product of sizes bounds in a
useful way: those are bounded by the processor's time that they take, too.
"""

import time
from functools import lru_cache
from typing import Any

import re2

from autotune.protocol.limits import (
    MAX_PATTERN_CHARACTERS,
    MAX_PATTERN_CPU_SECONDS,
    MAX_PATTERN_INSTRUCTIONS,
)
from autotune_platform.checks.faults import CompletionFaultError, configuration_error
from autotune_platform.checks.work import take

_MOST_MEMORY_BYTES = 1 << 20
_MOST_KEPT = 128
_WORK_OF_A_STEP = 1_000
"""Instructions times bytes: 5 µs at worst, what a step of validation takes, too."""
_SECONDS_OF_A_STEP = 5e-6


def compiled(pattern: str, *, field: str) -> Any:
    """Return an expression of RE2's syntax: no look-around, no back-references.

    Raises:
        InvalidRequestError: it is none, or a larger one than may run.
    """
    if len(pattern) > MAX_PATTERN_CHARACTERS:
        raise configuration_error(field, f"at most {MAX_PATTERN_CHARACTERS} characters")
    try:
        expression = _compiled(pattern)
    except re2.error as error:
        raise configuration_error(
            field,
            "a regular expression of RE2: no look-around, no back-references, no large repetitions",
        ) from error
    if expression.programsize > MAX_PATTERN_INSTRUCTIONS:
        raise configuration_error(
            field,
            f"a pattern that RE2 compiles to at most {MAX_PATTERN_INSTRUCTIONS} instructions, "
            f"not {expression.programsize}: fewer or smaller repetitions and classes",
        )
    return expression


def matches(pattern: str, text: str) -> bool:
    """Tell whether a pattern that was compiled before is found anywhere in a text.

    Raises:
        CompletionFaultError: the steps that are left are too few for it.
    """
    expression = _compiled(pattern)
    take(_steps(expression, len(text.encode())))
    return expression.search(text) is not None


def last_match(pattern: str, text: str) -> str:
    """Return what the last match of a pattern found in its first group, or in all if it has none.

    Matches are looked for from the start, each behind the one before. Empty where there is none.

    Raises:
        CompletionFaultError: the steps that are left, or the time, are too little for it.
    """
    expression = _compiled(pattern)
    all_steps = _steps(expression, len(text.encode()))
    take(all_steps)
    started = time.thread_time()
    last = None
    for match in expression.finditer(text):
        last = match
        take(1)
        # The next search may read all that is left, at RE2's slowest.
        left = all_steps * (len(text) - match.end()) / len(text) if text else 0
        if time.thread_time() - started + left * _SECONDS_OF_A_STEP > MAX_PATTERN_CPU_SECONDS:
            raise CompletionFaultError("builtin_input_too_large")
    if last is None:
        return ""
    return (last[1] if expression.groups else last[0]) or ""


def _steps(expression: Any, size: int) -> int:
    return 1 + int(expression.programsize) * size // _WORK_OF_A_STEP


# Together they may take a quarter of the 512 MB of the function that grades.
@lru_cache(maxsize=_MOST_KEPT)
def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.max_mem = _MOST_MEMORY_BYTES
    options.log_errors = False
    return re2.compile(pattern, options)
