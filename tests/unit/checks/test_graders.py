"""What each builtin grader says of a completion, and what it refuses to be configured with."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune_platform.checks.compiling import (
    compile_builtin,
    compile_stored,
    stored_form,
    version_of,
)
from autotune_platform.checks.faults import CompletionFaultError
from autotune_platform.checks.templates import Sample
from autotune_platform.runtime.errors import InvalidRequestError
from tests.unit.checks.judging import configurations, graded, value

words = st.text(st.sampled_from("abAB ß{}"), max_size=6)


@given(words, words)
def test_string_checks_do_what_their_model_does(said: str, expected: str) -> None:
    model = {
        "eq": said == expected,
        "ne": said != expected,
        "like": expected in said,
        "ilike": re.search(re.escape(expected.casefold()), said.casefold()) is not None,
    }
    for operation, holds in model.items():
        check = {
            "type": "string_check",
            "input": "{{sample.output_text}}",
            "reference": "{{ item.expected }}",
            "operation": operation,
        }
        assert value(check, said, expected=expected) == float(holds), operation


@pytest.mark.parametrize(
    ("options", "response", "expected"),
    [
        ({}, " Paris\n", 1.0),
        ({}, "paris", 0.0),
        ({"ignoreCase": True}, "paris", 1.0),
        ({"trim": False}, " Paris", 0.0),
        ({}, "Paris, France", 0.0),
    ],
)
def test_exact_matches(options: dict[str, Any], response: str, expected: float) -> None:
    check = {"type": "exact_match", "reference": "{{ item.answer }}", **options}
    assert value(check, response, answer="Paris") == expected


@pytest.mark.parametrize(
    ("options", "response", "reference", "expected"),
    [
        ({}, "So it is 1,234.50 in all.", "1234.5", 1.0),
        ({}, "first 3, then 4", "3", 0.0),
        ({}, "it is \N{MINUS SIGN}3", -3, 1.0),
        ({}, "half: 1/2", 0.5, 1.0),
        ({}, "9007199254740993", "9007199254740992", 0.0),
        ({}, "1/0", "0", 0.0),
        ({}, "no number", "7", 0.0),
        ({}, "0", "0.0", 1.0),
        ({}, "version 1.2.3", "3", 0.0),
        ({"absoluteTolerance": 0.01}, "3.14", "3.15", 1.0),
        ({"absoluteTolerance": 0.01}, "3.14", "3.16", 0.0),
        ({"relativeTolerance": 0.1}, "-95", "-100", 1.0),
        ({"extract": "boxed"}, r"thus \boxed{\frac{3}{4}} of 9", "0.75", 1.0),
        ({"extract": "boxed"}, r"\boxed{1} and \boxed{x = {2}}", "2", 1.0),
        ({"extract": "boxed"}, "2", "2", 0.0),
        ({"extract": "boxed"}, r"\boxed{2", "2", 0.0),
        ({"extract": "regex", "pattern": r"answer: (\S+)"}, "answer: 5 of 6", "5", 1.0),
        ({"extract": "regex", "pattern": r"\d+ apples"}, "3 apples, 4 pears", "3", 1.0),
        ({"extract": "regex", "pattern": r"x(y)?"}, "x", "3", 0.0),
    ],
)
def test_numbers(options: dict[str, Any], response: str, reference: Any, expected: float) -> None:
    check = {"type": "numeric", "reference": "{{ item.answer }}", **options}
    assert value(check, response, answer=reference) == expected


def test_a_threshold_is_told_beside_the_value() -> None:
    check = {
        "type": "text_similarity",
        "reference": "a b c d",
        "metric": "rouge_1",
        "passThreshold": 0.9,
    }
    score = graded(check, "a b c")
    assert score.value == pytest.approx(6 / 7)
    assert score.confidence == 1.0
    assert [(one.name, one.value) for one in score.dimensions or []] == [("passed", 0.0)]


def multi(formula: str) -> dict[str, Any]:
    said = {"type": "string_check", "reference": "a", "operation": "like"}
    return {
        "type": "multi",
        "graders": {"x": said, "y": {**said, "reference": "b"}},
        "calculateOutput": formula,
    }


def test_several_graders_make_one_score_and_stay_visible() -> None:
    score = graded(multi("0.75 * x + 0.25 * y"), "a")
    assert score.value == 0.75
    assert [(one.name, one.value) for one in score.dimensions or []] == [("x", 1.0), ("y", 0.0)]
    assert graded(multi("0.1 + 0.2 + 0.7 * x"), "a").value == 1.0


@pytest.mark.parametrize(
    ("formula", "reason"),
    [
        ("x + 1", "builtin_out_of_range"),
        ("y - x", "builtin_out_of_range"),
        ("x / y", "builtin_error"),
    ],
)
def test_a_formula_that_comes_to_no_score_is_a_failure(formula: str, reason: str) -> None:
    with pytest.raises(CompletionFaultError, match=reason):
        graded(multi(formula), "a")


METADATA = {"a": {"b": [{"c": "deep"}]}, "n": 1.5, "yes": True, "null": None, "x y": "spaced"}


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("plain", "plain"),
        ("{{item.a.b[0].c}}", "deep"),
        ("{{ item['x y'] }}-{{item[\"x y\"]}}", "spaced-spaced"),
        ("{{item.n}} {{ item.yes }} {{ item.a.b }}", '1.5 true [{"c":"deep"}]'),
        ("{{ item.prompt }}", "p"),
        ("{{ sample.output_text }}", '{"k": ["{{item.n}}", 2]}'),
        ("{{ sample.output_json.k[0] }}", "{{item.n}}"),
        ("{{ sample.output_json.k[1] }}", "2"),
        ("{ {{item.n}} }", "{ 1.5 }"),
    ],
)
def test_templates(template: str, text: str) -> None:
    check = {
        "type": "string_check",
        "input": template,
        "reference": "{{item.t}}",
        "operation": "eq",
    }
    assert value(check, '{"k": ["{{item.n}}", 2]}', **METADATA, t=text) == 1.0


def test_metadata_may_have_a_prompt_of_its_own() -> None:
    check = {"type": "exact_match", "input": "{{ item.prompt }}", "reference": "mine"}
    sample = Sample(prompt="p", response="r", metadata={"prompt": "mine"})
    grader = compile_builtin(configurations.validate_python(check), field="builtin")
    assert grader(sample).value == 1.0


@pytest.mark.parametrize(
    "template",
    [
        "{{ item.missing }}",
        "{{ item.null }}",
        "{{ item.a.b[1].c }}",
        "{{ item.a.b.c }}",
        "{{ item.n.x }}",
        "{{ sample.output_json.k }}",
        "{{ sample.output_json }}",
    ],
)
def test_a_missing_field_is_a_failure_and_never_0(template: str) -> None:
    with pytest.raises(CompletionFaultError, match="builtin_input_missing"):
        value({"type": "exact_match", "reference": template}, "not JSON", **METADATA)
    numeric = {"type": "numeric", "reference": "{{ item.t }}"}
    with pytest.raises(CompletionFaultError, match="builtin_input_missing"):
        value(numeric, "1", t="no number")


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(depth):
        schema = {"not": schema}
    return schema


@pytest.mark.parametrize(
    ("configuration", "field"),
    [
        ({"type": "exact_match", "reference": "{{ other.x }}"}, "builtin.reference"),
        ({"type": "exact_match", "reference": "{{ item }}"}, "builtin.reference"),
        ({"type": "exact_match", "reference": "{{ item.x"}, "builtin.reference"),
        ({"type": "exact_match", "reference": "{{ item.x | upper }}"}, "builtin.reference"),
        ({"type": "exact_match", "reference": "{{ sample.output_tools[0] }}"}, "builtin.reference"),
        ({"type": "exact_match", "reference": "{{ sample.output_text.x }}"}, "builtin.reference"),
        ({"type": "exact_match", "input": "{{}}", "reference": ""}, "builtin.input"),
        ({"type": "numeric", "reference": "1", "extract": "regex"}, "builtin.pattern"),
        ({"type": "numeric", "reference": "1", "pattern": "x"}, "builtin.pattern"),
        (
            {"type": "numeric", "reference": "1", "extract": "regex", "pattern": r"(a)\1"},
            "builtin.pattern",
        ),
        ({"type": "json_schema", "schema": {"type": "text"}}, "builtin.schema['type']"),
        (
            {"type": "json_schema", "schema": {"properties": {"x": {"type": "text"}}}},
            "builtin.schema['properties']['x']['type']",
        ),
        (
            {"type": "json_schema", "schema": {"$ref": "https://x.example"}},
            "builtin.schema['$ref']",
        ),
        ({"type": "json_schema", "schema": {"$schema": "https://x"}}, "builtin.schema['$schema']"),
        (
            {
                "type": "json_schema",
                "schema": {
                    "properties": {"x": {"$schema": "http://json-schema.org/draft-07/schema#"}}
                },
            },
            "builtin.schema['properties']['x']['$schema']",
        ),
        (
            {"type": "json_schema", "schema": {"items": {"pattern": "(?=a)"}}},
            "builtin.schema['items']['pattern']",
        ),
        (
            {"type": "json_schema", "schema": {"patternProperties": {"(?!a)": {}}}},
            "builtin.schema['patternProperties']",
        ),
        (
            {"type": "json_schema", "schema": {"unevaluatedProperties": False}},
            "builtin.schema['unevaluatedProperties']",
        ),
        (
            {
                "type": "json_schema",
                "schema": {"properties": {"default": {"unevaluatedProperties": False}}},
            },
            "builtin.schema['properties']['default']['unevaluatedProperties']",
        ),
        (
            {
                "type": "json_schema",
                "schema": {"$defs": {"enum": {"allOf": [{"pattern": "(?=a)"}]}}},
            },
            "builtin.schema['$defs']['enum']['allOf'][0]['pattern']",
        ),
        *(
            (
                {"type": "json_schema", "schema": {**data, "$ref": reference}},
                "builtin.schema['$ref']",
            )
            for data, reference in [
                ({"default": {"pattern": "(?=a)"}}, "#/default"),
                ({"default": {"pattern": "(?=a)"}}, "#/def%61ult"),
                ({"examples": [{}]}, "#/examples/0"),
                ({"enum": [{"a": {}}]}, "#/enum/0/a"),
                ({"properties": {"x": {}}}, "#/properties"),
                ({"required": ["x"]}, "#/required/0"),
                ({"allOf": [{}, {}]}, "#/allOf/-1"),
                ({}, "#/$defs/missing"),
            ]
        ),
        (
            {"type": "json_schema", "schema": {"items": {"$id": "https://x.example"}}},
            "builtin.schema['items']['$id']",
        ),
        ({"type": "json_schema", "schema": {"description": "x" * 40_000}}, "builtin.schema"),
        (
            {
                "type": "json_schema",
                "schema": {
                    "patternProperties": {f"a{n}": {} for n in range(30)},
                    "anyOf": [{"pattern": f"b{n}"} for n in range(21)],
                },
            },
            "builtin.schema",
        ),
        (
            {"type": "json_schema", "schema": {"pattern": r"\pL{80}"}},
            "builtin.schema['pattern']",
        ),
        ({"type": "json_schema", "schema": nested(200)}, "builtin.schema"),
        ({"type": "json_schema", "schema": {"const": nested(200)}}, "builtin.schema"),
        ({"type": "json_schema", "schema": {"maximum": float("inf")}}, "builtin.schema"),
        (multi("x + z"), "builtin.calculateOutput"),
        (
            {
                "type": "multi",
                "graders": {"x": {"type": "exact_match", "reference": "{{ no.x }}"}},
                "calculateOutput": "x",
            },
            "builtin.graders.x.reference",
        ),
    ],
)
def test_a_wrong_configuration_is_named(configuration: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        graded(configuration)
    assert [fault.field for fault in refused.value.fields] == [field]


def test_a_version_is_its_configuration() -> None:
    def version(**changes: Any) -> str:
        check = {"type": "exact_match", "reference": "{{ item.x }}", **changes}
        stored = stored_form(configurations.validate_python(check))
        assert compile_stored(stored)(Sample(prompt="", response="1", metadata={"x": 1})).value == 1
        return version_of(stored)

    assert version() == version(trim=True)
    assert len({version(), version(trim=False), version(ignoreCase=True)}) == 3
    assert re.fullmatch("[0-9a-f]{12}", version())
