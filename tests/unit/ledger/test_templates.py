"""Variables are put into texts once, and what is put in is never looked through."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.protocol.limits import MAX_FILLED_CHARACTERS
from autotune.protocol.llm_templates import MissingVariableError, names_in
from autotune_platform.ledger.templates import fill
from autotune_platform.runtime.errors import InvalidRequestError

names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,63}", fullmatch=True)
hostile = st.text(alphabet="{} ab_1\n\t\\$%", max_size=40)


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{{a}}", "1"),
        ("{{ a }}{{a}}\t{{\ta}}", "11\t1"),
        ("{{{a}}}", "{1}"),
        ("{{a}} {{_b}} {{c3}}", "1 {{a}} \\1\\g<0>"),
        ("{{" + "n" * 64 + "}}", "long"),
    ],
)
def test_what_is_put_in(template: str, expected: str) -> None:
    variables = {"a": "1", "_b": "{{a}}", "c3": r"\1\g<0>", "n" * 64: "long", "unused": "x"}
    assert fill(template, variables) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{a}",
        "{{}}",
        "{{ }}",
        "{{a b}}",
        "{{a.b}}",
        "{{1a}}",
        "{{a-b}}",
        "{{a\n}}",
        "{{a}",
        "{ {a} }",
        "{{#if a}}",
        "{{ä}}",
        "{{a\u0661}}",
        "{{" + " " * 9 + "a}}",
        "{{" + "n" * 65 + "}}",
        "${a} %(a)s $a",
    ],
)
def test_all_else_is_text(text: str) -> None:
    assert fill(text, {"a": "1", "b": "2"}) == text
    assert names_in(text) == []


def test_the_first_variable_that_is_missing_is_named() -> None:
    with pytest.raises(MissingVariableError) as caught:
        fill("{{there}} {{first}} {{second}}", {"there": "{{third}}"})
    assert caught.value.name == "first"
    assert str(caught.value) == "no variable first"


def test_names_come_once_and_in_their_order() -> None:
    assert names_in("{{b}}{{a}}{{ b }}{{c}}") == ["b", "a", "c"]


@given(st.lists(st.tuples(hostile.filter(lambda text: "{{" not in text), names, hostile)))
def test_what_was_put_in_is_never_a_template(parts: list[tuple[str, str, str]]) -> None:
    variables = {name: value for _, name, value in parts}
    # A line end keeps braces of the text between from those of a place.
    template = "".join(f"{text}\n{{{{{name}}}}}\n" for text, name, _ in parts)
    expected = "".join(f"{text}\n{variables[name]}\n" for text, name, _ in parts)
    assert fill(template, variables) == expected


def test_a_text_that_would_be_too_long_is_never_built() -> None:
    variables = {"a": "x" * 1_000_000}
    template = "{{a}}" * 5
    assert len(fill(template, variables)) == MAX_FILLED_CHARACTERS
    with pytest.raises(InvalidRequestError, match="at most 5000000 characters"):
        fill("{{a}}" * 900_000, variables)  # 900 GB
    with pytest.raises(InvalidRequestError):
        fill(template + "x", variables)


@pytest.mark.parametrize("unit", ["{{", "{", "{{ ", "{{a", "{{a ", "}}", "{{a" + " " * 8, "{{}}"])
def test_hostile_texts_take_linear_time(unit: str) -> None:
    text = unit * (4_000_000 // len(unit))
    started = time.process_time()
    assert fill(text, {"a": "1"}) == text
    assert time.process_time() - started < 5
