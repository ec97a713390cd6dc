"""What JSON schemas say of responses, and how much work they may make."""

import json
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from autotune.protocol.limits import MAX_BUILTIN_CPU_SECONDS
from autotune_platform.checks.faults import CompletionFaultError
from autotune_platform.checks.schemas import Schema, check_schema
from autotune_platform.runtime.errors import InvalidRequestError
from tests.unit.checks.judging import value

HUGE = "9" * 400


SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "pattern": "^[A-Z]"}, "tags": {"uniqueItems": True}},
    "patternProperties": {"^x_": {"type": "integer"}},
    "additionalProperties": False,
    "required": ["name"],
}


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        ('{"name": "Ann", "x_1": 2, "tags": [1, true, [1], {"a": 1}]}', 1.0),
        ('{"name": "ann"}', 0.0),
        ('{"name": "Ann", "x_1": "2"}', 0.0),
        ('{"name": "Ann", "y": 1}', 0.0),
        ('{"name": "Ann", "tags": [1, 1.0]}', 0.0),
        ('{"name": "Ann", "tags": [{"a": 1, "b": 2}, {"b": 2, "a": 1}]}', 0.0),
        ("{}", 0.0),
        ('```json\n{"name": "Ann"}\n```', 0.0),
        ('{"name": NaN}', 0.0),
        ("", 0.0),
    ],
)
def test_json_schemas(response: str, expected: float) -> None:
    assert value({"type": "json_schema", "schema": SCHEMA}, response) == expected


@pytest.mark.parametrize(
    ("schema", "response", "expected"),
    [
        ({"multipleOf": 0.01}, "1e999", 0.0),
        ({"multipleOf": 0.01}, "-1e999", 0.0),
        ({"multipleOf": 0.01}, HUGE, 1.0),
        ({"multipleOf": 0.07}, HUGE, 0.0),
        ({"multipleOf": 0.01}, "1e308", 1.0),
        ({"multipleOf": int(HUGE)}, "1.5", 0.0),
        ({"multipleOf": 5e-324}, "1.5", 1.0),
        ({"multipleOf": 0.01}, "1.13", 1.0),
        ({"multipleOf": 0.01}, "1.135", 0.0),
        ({"multipleOf": 3}, "9.0", 1.0),
        ({"multipleOf": 3}, '"no number"', 1.0),
        ({"multipleOf": 3}, "true", 1.0),
        ({"type": "number"}, "1e999", 0.0),
        ({"pattern": "a"}, r'"a\ud800"', 0.0),
        ({"patternProperties": {"a": {}}}, r'{"a\udfff": 1}', 0.0),
        ({"pattern": "^.$"}, r'"\ud83d\ude00"', 1.0),
    ],
)
def test_no_response_breaks_a_schema(
    schema: dict[str, Any], response: str, expected: float
) -> None:
    assert value({"type": "json_schema", "schema": schema}, response) == expected


@pytest.mark.parametrize(
    "schema",
    [{"\ud800": 1}, {"\udfff\ud800": 1}, {"enum": ["\ud800"]}],
    ids=["a name", "a name of two", "a value"],
)
def test_a_schema_is_of_text_that_every_store_and_answer_can_hold(schema: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequestError, match=r"builtin\.schema: text that UTF-8 can hold"):
        value({"type": "json_schema", "schema": schema})


def test_names_of_properties_and_data_are_no_keywords() -> None:
    names = ("pattern", "$ref", "$schema", "$id", "unevaluatedProperties", "default", "enum")
    schema = {
        "properties": {name: {"type": "integer"} for name in names},
        "dependentRequired": {"$dynamicRef": ["pattern"]},
        "default": {"$ref": "https://x.example", "pattern": "(?=a)"},
        "$defs": {"a/b": {"anyOf": [{"type": "object"}]}, "c": {"$anchor": "c"}},
        "allOf": [{"$ref": "#/$defs/a~1b/anyOf/0"}, {"$ref": "#c"}],
    }
    for name in names:
        check = {"type": "json_schema", "schema": schema}
        assert value(check, json.dumps({name: 1})) == 1.0
        assert value(check, json.dumps({name: "1"})) == 0.0


def test_work_on_a_schema_is_bounded() -> None:
    doubled = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)}
    bomb = {"$ref": "#/$defs/d0", "$defs": {**doubled, "d40": {"type": "integer"}}}
    circle = {"$ref": "#"}
    enumeration = {"items": {"enum": [[n] for n in range(1_000)]}}
    started = time.process_time()
    for schema, response in [
        (bomb, "1"),
        (circle, "1"),
        (enumeration, "[" + "[999]," * 10_000 + "[999]]"),
        ({}, "[" * 90_000 + "]" * 90_000),
    ]:
        with pytest.raises(CompletionFaultError, match="builtin_input_too_large"):
            value({"type": "json_schema", "schema": schema}, response)
    assert time.process_time() - started < 20


# Its states are too many for RE2's automaton, which then follows each of its 8,000 instructions.
LARGE_PATTERN = "(?:" + "a?" * 300 + "){5}b"


def doubled(leaf: dict[str, Any], levels: int = 14) -> dict[str, Any]:
    """Return a schema that applies another one again and again."""
    names = [f"d{level}" for level in range(levels)]
    twice = {
        name: {"allOf": [{"$ref": f"#/$defs/{after}"}] * 2}
        for name, after in zip(names, [*names[1:], "leaf"], strict=True)
    }
    return {"$ref": "#/$defs/d0", "$defs": {**twice, "leaf": leaf}}


@pytest.mark.parametrize(
    ("leaf", "response"),
    [
        ({"pattern": LARGE_PATTERN}, json.dumps("a" * 20_000)),
        ({"not": {"pattern": LARGE_PATTERN}}, json.dumps("a" * 1_000)),
        ({"patternProperties": {LARGE_PATTERN: {}}}, json.dumps({"a" * 20_000: 1})),
        ({"const": [[0] * 7_500]}, json.dumps([[0] * 7_500])),
        ({"enum": [[[0] * 7_500]]}, json.dumps([[0] * 7_500])),
        ({"uniqueItems": True}, json.dumps([[0] * 50_000])),
    ],
)
def test_what_is_done_again_and_again_is_charged_each_time(
    leaf: dict[str, Any], response: str
) -> None:
    started = time.process_time()
    with pytest.raises(CompletionFaultError, match="builtin_input_too_large"):
        value({"type": "json_schema", "schema": doubled(leaf)}, response)
    # Without the charge: minutes.
    assert time.process_time() - started < 10


def test_a_pattern_too_large_to_run_is_refused_when_it_is_registered() -> None:
    class_of_words = r"[\p{L}\p{N}]{1,30}"
    with pytest.raises(InvalidRequestError) as refused:
        value({"type": "json_schema", "schema": {"items": {"pattern": class_of_words}}})
    (field,) = refused.value.fields
    assert field.field == "builtin.schema['items']['pattern']"
    assert "at most 20000 instructions" in field.expected


def test_work_stays_bounded_where_a_schema_that_names_its_draft_refers_to_itself() -> None:
    named = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    again = {"properties": {"again": {"$ref": "#"}}}
    backtracking = {**named, **again, "pattern": "^(a+)+$"}
    enumeration = {**named, **again, "items": {"enum": [[n] for n in range(1_000)]}}
    started = time.process_time()
    response = json.dumps({"again": "a" * 24 + "!"})
    assert value({"type": "json_schema", "schema": backtracking}, response) == 0.0
    assert time.process_time() - started < 0.5
    with pytest.raises(CompletionFaultError, match="builtin_input_too_large"):
        value(
            {"type": "json_schema", "schema": enumeration}, '{"again": [' + "[999]," * 999 + "1]}"
        )


def test_patterns_run_in_time_that_grows_with_the_text() -> None:
    text = "a" * 100_000 + "!"
    numeric = {"type": "numeric", "reference": "1", "extract": "regex", "pattern": "(a+)+$"}
    schema = {"type": "json_schema", "schema": {"pattern": "^(a|a)*$"}}
    started = time.process_time()
    assert value(numeric, text) == 0.0
    assert value(schema, f'"{text}"') == 0.0
    assert time.process_time() - started < 10


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        # Some 600 characters, such as took 42 s on 200,000.
        (LARGE_PATTERN, "a" * 200_000),
        # Each match is looked for up to the end.
        ("1.*x|1", "1" * 200_000),
        (r"(?s)\d.*x|\d", "1 " * 100_000),
        # More matches than steps.
        ("", "1" * 200_000),
    ],
)
def test_looking_for_the_last_number_is_bounded(pattern: str, text: str) -> None:
    numeric = {"type": "numeric", "reference": "1", "extract": "regex", "pattern": pattern or "1"}
    started = time.process_time()
    with pytest.raises(CompletionFaultError, match="builtin_input_too_large"):
        value(numeric, text)
    assert time.process_time() - started < MAX_BUILTIN_CPU_SECONDS + 1


def test_an_ordinary_pattern_finds_the_last_of_thousands_of_numbers() -> None:
    text = "so it is 17, no: " * 10_000 + "answer: 27"
    numeric = {
        "type": "numeric",
        "reference": "27",
        "extract": "regex",
        "pattern": r"is \d+|: (\d+)",
    }
    assert value(numeric, text) == 1.0


def test_a_pattern_that_only_pythons_syntax_refuses_is_taken() -> None:
    schema = {"pattern": "a{99999999999999999999}"}
    assert value({"type": "json_schema", "schema": schema}, '"aa"') == 0.0


def _below(frames: int, call: Callable[[], object]) -> object:
    return call() if frames == 0 else _below(frames - 1, call)


@pytest.mark.parametrize("frames", range(0, 300, 7))
def test_a_schema_that_leads_to_itself_is_a_fault_wherever_the_stack_ends(frames: int) -> None:
    itself = {"properties": {"text": {"type": "string"}}, "allOf": [{"$ref": "#"}]}
    deep: dict[str, Any] = {}
    for _ in range(190):
        deep = {"items": deep}

    def check() -> None:
        check_schema(deep, field="schema")

    with pytest.raises(CompletionFaultError, match="builtin_input_too_large"):
        _below(frames, lambda: Schema(itself).admits({"text": "a"}))
    with suppress(InvalidRequestError):
        _below(frames, check)
