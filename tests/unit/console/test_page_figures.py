"""That pages which show something else than the API says are found."""

import pytest

from tests.support.page_figures import (
    Part,
    Rows,
    Shown,
    difference,
    differences,
    duration,
    level,
    nano_dollars,
    number,
    percent,
    plain,
    score,
    size,
)

PART = Part(
    "tasks",
    stats={"Scored": number("counts.scored")},
    facts={"Attempts": number("attempts")},
    images={"Verdicts": plain("told")},
    tables={"Tasks": Rows("tasks", {"Id": plain("id"), "Mean": score("mean")})},
)
ANSWER = {
    "counts": {"scored": 1_234},
    "attempts": None,
    "told": "2 scored",
    "tasks": [{"id": "a", "mean": 0.5}, {"id": "b", "mean": None}],
}


def shown(**parts):
    there = {
        "stats": {"Scored": ["1,234"], "Failed": ["7"]},
        "facts": {"Attempts": ["\u2013"]},
        "images": {"Verdicts": ["2 scored"]},
        "tables": {"Tasks": [{"Id": "a", "Mean": "0.500"}, {"Id": "b", "Mean": "\u2013"}]},
    }
    return Shown(**{**there, **parts})


def test_what_is_the_same_is_no_difference():
    assert differences(shown(), PART, ANSWER) == []


@pytest.mark.parametrize(
    "parts",
    [
        {"stats": {"Scored": ["1,235"]}},
        {"stats": {}},
        {"stats": {"Scored": ["1,234", "1,234"]}},
        {"facts": {"Attempts": ["0"]}},
        {"images": {"Verdicts": ["3 scored"]}},
        {"tables": {}},
        {"tables": {"Tasks": []}},
        {"tables": {"Tasks": [{"Id": "a", "Mean": "0.500"}]}},
        {"tables": {"Tasks": [{"Id": "b", "Mean": "\u2013"}, {"Id": "a", "Mean": "0.500"}]}},
        {"tables": {"Tasks": [{"Id": "a"}, {"Id": "b"}]}},
    ],
)
def test_each_difference_is_found(parts):
    assert len(differences(shown(**parts), PART, ANSWER)) == 1


def test_a_table_without_rows_proves_nothing():
    nothing = {**ANSWER, "tasks": []}
    assert len(differences(shown(tables={"Tasks": []}), PART, nothing)) == 1


def test_a_field_that_no_answer_has_is_an_error():
    with pytest.raises(KeyError):
        differences(shown(), PART, {**ANSWER, "counts": {}})


@pytest.mark.parametrize(
    ("figure", "value", "said"),
    [
        (number(""), 1_234_567, "1,234,567"),
        (score(""), 0.0625, "0.063"),
        (difference(""), -0.5, "-0.500"),
        (difference(""), 0, "0.000"),
        (level(""), 2, "+2"),
        (percent(""), 0.4285, "42.9%"),
        (percent(""), 0.9625, "96.3%"),
        (percent(""), 1, "100%"),
        (nano_dollars(""), 0, "$0.00"),
        (nano_dollars(""), 1_250, "$0.00000125"),
        (nano_dollars(""), 12_345_678_900_000, "$12,345.6789"),
        (duration(""), 999, "999 ms"),
        (duration(""), 4_250, "4.3 s"),
        (duration(""), 7_200_000, "2 h"),
        (duration(""), 172_800_000, "2 d"),
        (size(""), 999, "999 B"),
        (size(""), 12_300_000, "12.3 MB"),
    ],
)
def test_figures_are_said_as_pages_say_them(figure, value, said):
    assert figure.of(value) == said
