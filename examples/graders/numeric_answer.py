"""Is the final number right? Judges word problems against the reference in ``metadata.answer``.

Run it on this machine with ``autotune grader serve examples/graders/numeric_answer.py``.
"""

import re
from fractions import Fraction

from autotune.grader import Abstain, GradedCompletion, GraderScore, ScoreDimension, grader

# Exponents are short, because 1e999999999 as an exact number would fill the memory.
_DECIMAL = r"(?:(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d{1,3}(?!\d))?"

_NUMBER = re.compile(
    rf"""
    (?<![\w.])                                      # not inside a word or another number
    (?P<sign>-?)[$€£]?(?P<second_sign>-?)           # -5, $5, -$5, $-5
    (?:
        (?:(?P<whole>\d+)[ ]+)?                     # the 1 of 1 3/4
        (?P<numerator>\d+)\s?/\s?(?P<denominator>\d+)(?![\d./])
      | (?P<decimal>{_DECIMAL})
    )
    """,
    re.VERBOSE,
)

_FINAL_ANSWER = re.compile(
    r"^[ \t*]*A:|\#{4}|\\boxed\{|\banswer(?:\s+is\b|\s*[:=])", re.IGNORECASE | re.MULTILINE
)

_SPACED_THOUSANDS = re.compile(r"(?<=\d)[\u00a0\u202f](?=\d{3}\b)")


@grader(
    name="Numeric final answer",
    version="1.0.0",
    max_batch_size=200,
    domains=["math"],
    supports_dimensions=True,
    supports_explanations=True,
    avg_latency_ms=5,
)
def numeric_answer(completion: GradedCompletion) -> GraderScore:
    """Return 1.0 if the response's final number equals the reference exactly, else 0.0.

    ``confidence`` is 0.99 where the response marks its final answer (``A:``, ``####``,
    ``answer is``), 0.9 where it holds no number, 0.8 where the last number had to be taken.

    Raises:
        Abstain: ``metadata.answer`` is missing or holds no number.
    """
    reference, _ = final_number(str(completion.metadata.get("answer", "")))
    if reference is None:
        raise Abstain("metadata.answer holds no number")
    answer, is_marked = final_number(completion.response)
    if answer is None:
        confidence, reasoning = 0.9, "The response holds no number."
    else:
        confidence = 0.99 if is_marked else 0.8
        relation = "equals" if answer == reference else "differs from"
        reasoning = f"The final number {float(answer):g} {relation} {float(reference):g}."
    value = float(answer == reference)
    return GraderScore(
        value=value,
        confidence=confidence,
        dimensions=[
            ScoreDimension(name="correctness", value=value),
            ScoreDimension(name="final answer marked", value=float(is_marked), weight=0.0),
        ],
        reasoning=reasoning,
    )


def final_number(text: str) -> tuple[Fraction | None, bool]:
    """Return the number that ``text`` ends on, and whether it was marked as the answer.

    After the last mark the first number of that line counts, or what its equation comes to. Without
    a mark, or without a number after it, the last number of the whole text counts.
    """
    marks = list(_FINAL_ANSWER.finditer(text))
    if marks:
        line = text[marks[-1].end() :].lstrip().partition("\n")[0]
        for part in (line.rpartition("=")[2], line):
            if numbers := numbers_in(part):
                return numbers[0], True
    numbers = numbers_in(text)
    return (numbers[-1] if numbers else None), False


def numbers_in(text: str) -> list[Fraction]:
    """Return every number in ``text`` exactly: ``$1,234.50``, ``-3``, ``1 3/4``, ``.5``."""
    plain = _SPACED_THOUSANDS.sub("", text.replace("\N{MINUS SIGN}", "-"))
    found = (_exact(match) for match in _NUMBER.finditer(plain))
    return [number for number in found if number is not None]


def _exact(match: re.Match[str]) -> Fraction | None:
    decimal = match["decimal"]
    try:
        if decimal is not None:
            size = Fraction(decimal.replace(",", ""))
        else:
            size = Fraction(int(match["numerator"]), int(match["denominator"]))
            size += int(match["whole"] or 0)
    except (ValueError, ZeroDivisionError):  # thousands of digits, or a division by zero
        return None
    return -size if match["sign"] or match["second_sign"] else size
