"""Regular expressions of grader owners, in bounded time (RE2).

RE2 looks at each byte of a text once, but at worst it follows every instruction of the compiled
pattern there, and moves every group: about 5 ns for each. So a search is charged its instructions
times its bytes, and its groups where it needs any, before it starts. A search for further matches
may read on to the end of the text each time, which no product of sizes bounds in a useful way:
there the clock does.
"""

from functools import lru_cache
from typing import Any

import re2

from autotune.protocol.limits import (
    MAX_BUILTIN_PATTERNS,
    MAX_PATTERN_CHARACTERS,
    MAX_PATTERN_INSTRUCTIONS,
)
from autotune_platform.checks.faults import configuration_error
from autotune_platform.checks.work import take

_MOST_MEMORY_BYTES = 1 << 20
_WORK_OF_A_STEP = 1_000
"""Instructions times bytes: 5 µs at worst, what a step of validation takes, too."""
_SECONDS_OF_A_STEP = 5e-6


def check_pattern(pattern: str, *, field: str, with_groups: bool) -> None:
    """Require that a pattern is of RE2's syntax (no look-around, no back-references) and may run.

    Raises:
        InvalidRequestError: it is none, or a larger one than may run.
    """
    if len(pattern) > MAX_PATTERN_CHARACTERS:
        raise configuration_error(field, f"at most {MAX_PATTERN_CHARACTERS} characters")
    try:
        instructions = compiled(pattern, with_groups=with_groups).programsize
    except re2.error as error:
        raise configuration_error(
            field,
            "a regular expression of RE2: no look-around, no back-references, no large repetitions",
        ) from error
    if instructions > MAX_PATTERN_INSTRUCTIONS:
        raise configuration_error(
            field,
            f"a pattern that RE2 compiles to at most {MAX_PATTERN_INSTRUCTIONS} instructions, "
            f"not {instructions}: fewer or smaller repetitions and classes",
        )


def matches(pattern: str, text: str) -> bool:
    """Return whether a pattern that was checked before is found anywhere in a text.

    Raises:
        CompletionFaultError: the steps that are left are too few for it.
    """
    expression = compiled(pattern, with_groups=False)
    take(1 + _steps(expression, text))
    return expression.search(text) is not None


def last_match(pattern: str, text: str) -> str:
    """Return what the last match of a pattern found in its first group, or in all if it has none.

    Matches are looked for from the start, each behind the one before. Empty where there is none.

    Raises:
        CompletionFaultError: the steps that are left, or the time, are too little for it.
    """
    expression = compiled(pattern, with_groups=True)
    whole = _steps(expression, text) * (1 + expression.groups)
    take(whole)
    last = None
    for match in expression.finditer(text):
        last = match
        # The next search may read all that is left, at RE2's slowest.
        left = whole * (len(text) - match.end()) / (len(text) + 1)
        take(1, seconds=left * _SECONDS_OF_A_STEP)
    if last is None:
        return ""
    return (last[1] if expression.groups else last[0]) or ""


def _steps(expression: Any, text: str) -> int:
    return int(expression.programsize) * (len(text.encode()) + 1) // _WORK_OF_A_STEP


# Together they may take a quarter of the 512 MB of the function that grades.
@lru_cache(maxsize=MAX_BUILTIN_PATTERNS)
def compiled(pattern: str, *, with_groups: bool) -> Any:
    """Return a pattern that was checked before, as RE2 runs it."""
    options = re2.Options()
    options.max_mem = _MOST_MEMORY_BYTES
    options.log_errors = False
    options.never_capture = not with_groups
    return re2.compile(pattern, options)
