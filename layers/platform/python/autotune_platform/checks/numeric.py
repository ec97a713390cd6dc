"""Finding the number in a text, and comparing it exactly."""

import re
from fractions import Fraction

from autotune.protocol.builtin import NumberPlace
from autotune.protocol.limits import MAX_NUMERIC_CHARACTERS
from autotune_platform.checks.faults import CompletionFaultError
from autotune_platform.checks.patterns import last_match
from autotune_platform.checks.work import step_budget

# Short numbers and exponents only: 1e999999999 as an exact number would fill the memory.
_DECIMAL = r"""
    (?: (?:\d{1,3}(?:,\d{3}){1,100}(?!\d)|\d{1,300}(?!\d)) (?:\.\d{1,300})? | \.\d{1,300} )
    (?:[eE][-+]?\d{1,3}(?!\d))?
"""
_NUMBER = re.compile(
    rf"""
    (?<![\w.])                                          # not inside a word or another number
    (?P<sign>[-+]?)[$€£]?
    (?:
        (?P<numerator>\d{{1,300}})\s?/\s?(?P<denominator>\d{{1,300}})(?![\w./])
      | (?P<decimal>{_DECIMAL})
    )
    """,
    re.VERBOSE,
)
_FRACTION = re.compile(r"\\[dt]?frac\s*\{\s*(\d{1,300})\s*\}\s*\{\s*(\d{1,300})\s*\}")
_BOXED = "\\boxed{"


def find_number(text: str, place: NumberPlace, pattern: str | None) -> Fraction | None:
    """Return the number that a text gives as its answer, exactly; None where there is none.

    Reads ``-3``, ``1,234.50``, ``.5``, ``2e-3``, ``3/4``, ``$5`` and LaTeX fractions.

    Args:
        pattern: for ``regex``.

    Raises:
        CompletionFaultError: the text is too long, or the pattern too much work on it.
    """
    if len(text) > MAX_NUMERIC_CHARACTERS:
        raise CompletionFaultError("builtin_input_too_large")
    if place == "boxed":
        return _last_number(_last_boxed(text))
    if place == "regex":
        assert pattern is not None
        with step_budget():
            return _last_number(last_match(pattern, text))
    return _last_number(text)


def numbers_agree(
    found: Fraction, reference: Fraction, *, absolute: float, relative: float
) -> bool:
    """Return whether two numbers differ by no more than the larger tolerance."""
    tolerance = max(Fraction(absolute), Fraction(relative) * abs(reference))
    return abs(found - reference) <= tolerance


def _last_number(text: str) -> Fraction | None:
    plain = _FRACTION.sub(r"\1/\2", text.replace("\N{MINUS SIGN}", "-"))
    found = None
    for match in _NUMBER.finditer(plain):
        number = _exact(match)
        found = found if number is None else number
    return found


def _exact(match: re.Match[str]) -> Fraction | None:
    try:
        if match["decimal"] is not None:
            size = Fraction(match["decimal"].replace(",", ""))
        else:
            size = Fraction(int(match["numerator"]), int(match["denominator"]))
    except ZeroDivisionError:
        return None
    return -size if match["sign"] == "-" else size


def _last_boxed(text: str) -> str:
    start = text.rfind(_BOXED)
    if start < 0:
        return ""
    start += len(_BOXED)
    depth = 1
    for position in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        if depth == 0:
            return text[start:position]
    return ""
