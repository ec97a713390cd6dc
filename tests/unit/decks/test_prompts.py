"""System prompts: their normal form, and what stands in a text for their placeholders."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune_platform.decks.prompts import filled_in, normalized, placeholders, prompt_hash

texts = st.text(alphabet="ab \t\n\r\u00e9\u0301{}x", max_size=40)
values = st.text(alphabet="ab", max_size=5)


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("a  b", "a  b"),
        ("\r\n\n a \r\rb\t\n \n", " a\n\nb"),
        ("e\u0301", "\u00e9"),
        (" \n\t", ""),
        ("", ""),
    ],
)
def test_a_normal_form_keeps_case_and_inner_spacing(prompt: str, expected: str) -> None:
    assert normalized(prompt) == expected


@given(texts)
def test_a_normal_form_is_its_own(prompt: str) -> None:
    assert normalized(normalized(prompt)) == normalized(prompt)


def test_a_hash_is_of_the_organisation_too_and_of_no_joined_text() -> None:
    assert prompt_hash("a", "bc") != prompt_hash("ab", "c")
    assert prompt_hash("a", "b \n") == prompt_hash("a", "b")


def test_placeholders_are_named_once_in_their_order() -> None:
    assert placeholders("{{b}} {{a}} {{b}} {{ c }} {d} {{1}}") == ["b", "a"]


@pytest.mark.parametrize(
    ("prompt", "text", "expected"),
    [
        ("plain", "plain \n", []),
        ("plain", "plainer", None),
        ("Say {{a}}.", "Say hello.", ["hello"]),
        ("Say {{a}}.", "Say .", [""]),
        ("Say {{a}}.", "say hello.", None),
        ("{{a}}", "anything", ["anything"]),
        ("{{a}} and {{b}}", "x and y and z", ["x", "y and z"]),
        ("ab{{x}}ba", "aba", None),
        ("a{{x}}b{{y}}c", "acb", None),
        ("a{{x}}b{{y}}b", "ab", None),
    ],
)
def test_what_stands_for_placeholders(prompt: str, text: str, expected: list[str] | None) -> None:
    assert filled_in(prompt, text) == expected


@given(st.lists(values, min_size=1, max_size=5))
def test_what_was_put_in_comes_out_where_literals_are_not_in_it(given_values: list[str]) -> None:
    names = [f"{{{{p{place}}}}}" for place in range(len(given_values))]
    assert filled_in(f"<{'|'.join(names)}>", f"<{'|'.join(given_values)}>") == given_values


def test_a_hostile_text_takes_time_in_proportion() -> None:
    prompt = "a" * 200 + "".join(f"{{{{p{place}}}}}" + "a" * 200 + "b" for place in range(90))
    text = "a" * 1_000_000
    begun = time.process_time()
    assert filled_in(prompt, text) is None
    assert time.process_time() - begun < 1
