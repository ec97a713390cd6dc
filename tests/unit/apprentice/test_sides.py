"""An input is on one side of a split, and so is whatever is alike."""

import random

import pytest

from autotune_platform.apprentice.examples.sides import MOST_FIELDS, Digests, Split

HALF = Split(0.5)
BY_CUSTOMER = Split(0.5, ("customer",))


def inputs(count, seed=1):
    chance = random.Random(seed)
    return [{"text": f"question {chance.random()}"} for _ in range(count)]


def side(value, split):
    return Digests.of(value).side(split)


@pytest.mark.parametrize(
    "alike",
    [
        {"text": "where is  MY parcel?"},
        {"text": " Where is my parcel?\n"},
        {"text": "\uff37here is my parcel?"},
        {"text": "Where\u00a0is\tmy parcel?"},
    ],
)
def test_texts_that_differ_in_case_width_or_spacing_are_one_group(alike):
    assert Digests.of(alike) == Digests.of({"text": "Where is my parcel?"})


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ({"a": 1, "b": "x"}, {"b": "X", "a": 1.0}, True),
        ({"a": {"c": ["ß"]}}, {"a": {"c": ["SS"]}}, True),
        ({"a": ["x", "y"]}, {"a": ["y", "x"]}, False),
        ({"a": "1"}, {"a": 1}, False),
        ({"a": True}, {"a": 1}, False),
        ({"a": "x"}, {"b": "x"}, False),
        ({"a": None}, {}, False),
    ],
)
def test_whole_inputs_are_compared_as_json(one, other, is_same):
    assert (Digests.of(one).whole == Digests.of(other).whole) is is_same


def test_the_share_that_validates_is_about_the_one_that_was_asked_for():
    sides = [side(value, Split(0.1)) for value in inputs(4_000)]
    assert 320 < sides.count("holdout") < 480
    assert sides.count(None) == 0


def test_a_larger_share_keeps_all_of_a_smaller_one():
    values = inputs(1_000)
    small = [value for value in values if side(value, Split(0.1)) == "holdout"]
    assert small
    assert all(side(value, Split(0.3)) == "holdout" for value in small)


def test_a_group_by_fields_is_on_one_side():
    for number in range(40):
        sides = {
            side({"customer": f"C{number}", "text": f"question {text}"}, BY_CUSTOMER)
            for text in range(10)
        } | {side({"customer": f"c{number} "}, BY_CUSTOMER)}
        assert len(sides) == 1
    assert len({side({"customer": f"C{one}"}, BY_CUSTOMER) for one in range(40)}) == 2


def test_several_fields_make_a_group_in_any_order():
    value = {"a": "1", "b": "2", "c": "3"}
    assert Digests.of(value).group(("a", "b")) == Digests.of({**value, "c": "4"}).group(("b", "a"))
    assert Digests.of(value).group(("a", "b")) != Digests.of({"a": "2", "b": "1"}).group(("a", "b"))
    assert Digests.of({"a": "1"}).group(("a", "b")) == Digests.of({"a": "1"}).group(("b", "a"))


def test_an_input_with_too_many_fields_is_on_no_side_of_a_split_by_fields():
    many = {f"field {number}": number for number in range(MOST_FIELDS + 1)}
    assert side({**many, "customer": "C1"}, BY_CUSTOMER) is None
    assert side(many, HALF) in ("train", "holdout")


def test_what_a_configuration_says():
    training = {"holdout": 0.2, "splitBy": ["b", "a"]}
    assert Split.of({"training": training}) == Split(0.2, ("a", "b"))
    assert side({"text": "t"}, Split.of({"training": None})) == "train"
