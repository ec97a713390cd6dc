"""Tests of the example; yours go here. ``python -m pytest`` runs them without a server."""

import pytest
from grader import concision, reference_match

from autotune.grader import Abstain


@pytest.mark.parametrize(
    ("response", "value"),
    [
        ("3 * 5 = 15\nA: 27", 1.0),
        ("So it is $27.", 1.0),
        ("First I had 27.\nA: 30", 0.5),
        ("A: 127", 0.0),
        ("A: 27.5", 0.0),
        ("A: -27", 0.0),
        ("", 0.0),
    ],
)
def test_value_tells_where_the_reference_stands(response: str, value: float) -> None:
    score = reference_match.grade(prompt="?", response=response, metadata={"answer": "27"})
    assert score.value == value


def test_thousands_separators_do_not_matter() -> None:
    score = reference_match.grade(prompt="?", response="A: 1,250", metadata={"answer": "1250"})
    assert score.value == 1.0


def test_abstains_without_a_reference() -> None:
    with pytest.raises(Abstain):
        reference_match.grade(prompt="?", response="A: 27", metadata={})


def test_concision_falls_with_length() -> None:
    assert concision("short") == 1.0
    assert concision("word " * 180) == 0.5
    assert concision("word " * 400) == 0.0
