"""The numeric final-answer grader, loaded as ``autotune grader serve`` loads it."""

import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from autotune.grader import Abstain
from autotune.grader.loading import load_grader

EXAMPLE = Path(__file__).parents[2] / "examples/graders/numeric_answer.py"


@pytest.fixture(scope="module")
def numeric_answer() -> Any:
    return load_grader(str(EXAMPLE))


@pytest.fixture(scope="module")
def numbers_in(numeric_answer: Any) -> Any:
    return numeric_answer.__wrapped__.__globals__["numbers_in"]


@pytest.mark.parametrize(
    ("response", "reference", "value", "confidence"),
    [
        ("Nine eggs at $2 are 9 * 2 = $<<9*2=18>>18 a day\nA: 18", "18", 1.0, 0.99),
        ("16 - 3 = <<16-3=13>>13 are left\nA: 26", "18", 0.0, 0.99),
        ("So she paid $1,200 in rent.\n#### 1,200", "1200", 1.0, 0.99),
        ("The answer is $1200.", "1,200", 1.0, 0.99),
        ("A: 26.00", "26", 1.0, 0.99),
        ("A: 0.5", "1/2", 1.0, 0.99),
        ("A: 1 3/4 cups", "1.75", 1.0, 0.99),
        ("A: -5", "5", 0.0, 0.99),
        ("A: \N{MINUS SIGN}5", "-5", 1.0, 0.99),
        ("A: 50%", "50", 1.0, 0.99),
        ("A: **42**.", "42", 1.0, 0.99),
        ("Hence \\boxed{42}.", "42", 1.0, 0.99),
        ("A: 3\nNo, that was wrong.\nA: 4", "4", 1.0, 0.99),
        ("The answer is 20 + 7 = 27 apples.", "27", 1.0, 0.99),
        ("A: 0.545454545454545454", "0.5454", 0.0, 0.99),
        ("She has 12 and 15, so 27 in the end.", "27", 1.0, 0.8),
        ("A: I cannot tell, perhaps\n27", "27", 1.0, 0.8),
        ("I do not know.", "27", 0.0, 0.9),
        ("", "27", 0.0, 0.9),
    ],
)
def test_the_final_number_is_compared_exactly(
    numeric_answer: Any, response: str, reference: str, value: float, confidence: float
) -> None:
    score = numeric_answer.grade(prompt="?", response=response, metadata={"answer": reference})
    assert (score.value, score.confidence) == (value, confidence)
    assert {dimension.name for dimension in score.dimensions} == {
        "correctness",
        "final answer marked",
    }


@pytest.mark.parametrize("reference", [27, 27.0, "27", " 27. ", "3 * 9 = 27\n#### 27"])
def test_references_may_be_numbers_or_worked_solutions(numeric_answer: Any, reference: Any) -> None:
    score = numeric_answer.grade(prompt="?", response="A: 27", metadata={"answer": reference})
    assert score.value == 1.0


@pytest.mark.parametrize("metadata", [{}, {"answer": ""}, {"answer": None}, {"answer": "many"}])
def test_without_a_reference_it_abstains(numeric_answer: Any, metadata: dict[str, Any]) -> None:
    with pytest.raises(Abstain):
        numeric_answer.grade(prompt="?", response="A: 27", metadata=metadata)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("$1,234.50 and -$3", [Fraction("1234.5"), -3]),
        ("1,234,567 or 12,34", [1_234_567, 12, 34]),
        ("2e3", [2000]),
        ("v2.1 x7 3-1", [3, 1]),
        ("7/0 5", [5]),
        ("1\u202f234 km", [1234]),
        ("9" * 5_000, []),
    ],
)
def test_numbers_are_read_exactly(numbers_in: Any, text: str, numbers: list[Any]) -> None:
    assert numbers_in(text) == numbers


@pytest.mark.parametrize(
    "text", ["9" * 500_000, "\n" * 500_000, "1e999999999", "1 " * 200_000, " " * 500_000]
)
def test_hostile_text_is_read_in_linear_time(numeric_answer: Any, text: str) -> None:
    started = time.monotonic()
    numeric_answer.grade(prompt="?", response=text, metadata={"answer": "1"})
    assert time.monotonic() - started < 30
