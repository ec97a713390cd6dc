"""Lint names what of a rubric is empty, repeated or vague, and nothing else."""

import pytest

from autotune.protocol.levels import LevelsRubric
from autotune.protocol.rubric_lint import lint_rubric
from tests.judges.planted_samples import RUBRIC as PLANTED
from tests.judges.proposals import DEGREES, graders
from tests.support.decks import LEVELS, RUBRIC


def rubric(**fields):
    return LevelsRubric.model_validate({**RUBRIC, **fields})


def found(**fields):
    return [(one.field, one.level, one.code) for one in lint_rubric(rubric(**fields))]


def with_level(place, text):
    return [*LEVELS[:place], text, *LEVELS[place + 1 :]]


def test_rubrics_that_say_something_have_no_remarks():
    assert lint_rubric(rubric()) == []
    assert lint_rubric(PLANTED) == []
    for one in graders("Always greet by name. Never promise a refund. Keep to two sentences."):
        assert found(criteria=one["criteria"], levels=one["levels"]) == []
    assert found(levels=[f"It {degree}." for degree in DEGREES]) == []
    assert found(levels=[f"回答は{place}件の誤りを含む" for place in range(7)]) == []


@pytest.mark.parametrize("text", ["", "  \n", "...", "\u200b"])
def test_what_has_no_words_is_empty(text):
    assert found(levels=with_level(0, text)) == [("levels[0]", -3, "empty")]
    assert found(notApplicableWhen=text) == [("notApplicableWhen", None, "empty")]


@pytest.mark.parametrize(
    "text", ["Good.", "A very poor response", "Level 2: above average", "OK", "Meets expectations"]
)
def test_words_that_fit_any_rubric_are_vague(text):
    assert found(levels=with_level(3, text)) == [("levels[3]", 0, "vague")]
    assert found(criteria=text) == [("criteria", None, "vague")]
    assert found(levels=with_level(3, f"{text}, but without a source")) == []


def test_a_level_that_says_what_a_lower_one_says_is_repeated():
    again = with_level(5, f" {LEVELS[3].upper()}! ")
    assert found(levels=again) == [("levels[5]", 2, "repeated")]
    (remark,) = lint_rubric(rubric(levels=again))
    assert remark.message == "says the same as level 0"
    # Each of several is named, and an empty one is empty and not the same as another.
    assert [code for *_, code in found(levels=["", "", "Good", "good", *LEVELS[4:]])] == [
        "empty",
        "empty",
        "vague",
        "repeated",
    ]
