"""OpenAI's grader JSON keeps its meaning; examples are those of their guide to graders."""

from typing import Any

import pytest

from autotune_platform.checks.compiling import compile_builtin
from autotune_platform.checks.openai import from_openai
from autotune_platform.checks.templates import Sample
from autotune_platform.runtime.errors import InvalidRequestError

NAME_AND_EMAIL = {
    "type": "multi",
    "graders": {
        "name": {
            "name": "name_grader",
            "type": "text_similarity",
            "input": "{{sample.output_json.name}}",
            "reference": "{{item.name}}",
            "evaluation_metric": "fuzzy_match",
            "pass_threshold": 0.9,
        },
        "email": {
            "name": "email_grader",
            "type": "string_check",
            "input": "{{sample.output_json.email}}",
            "reference": "{{item.email}}",
            "operation": "eq",
        },
    },
    "calculate_output": "(name + email) / 2",
}
ITEM = {"name": "John Doe", "email": "john.doe@gmail.com"}


def value(document: dict[str, Any], response: str, item: dict[str, Any]) -> float:
    grader = compile_builtin(from_openai(document, field="openai"), field="openai")
    return grader(Sample(prompt="", response=response, metadata=item)).value


@pytest.mark.parametrize(
    ("response", "lowest", "highest"),
    [
        ('{"name": "John Doe", "email": "john.doe@gmail.com"}', 1.0, 1.0),
        ('{"name": "Jon Doe", "email": "john.doe@gmail.com"}', 0.5, 0.99),
        ('{"name": "John Doe", "email": "john.doe@gmail.co"}', 0.5, 0.5),
        ('{"name": "Xavier", "email": "x@example.com"}', 0.0, 0.49),
    ],
)
def test_the_guide_s_multi_grader(response: str, lowest: float, highest: float) -> None:
    # "Samples that get the email wrong will score between 0-0.5, and right between 0.5-1.0."
    assert lowest <= value(NAME_AND_EMAIL, response, ITEM) <= highest


@pytest.mark.parametrize(
    ("operation", "response", "expected"),
    [
        ("eq", "Paris", 1),
        ("eq", "paris", 0),
        ("ne", "Paris", 0),
        ("neq", "paris", 1),
        ("like", "It is Paris.", 1),
        ("like", "It is paris.", 0),
        ("ilike", "It is paris.", 1),
        ("ilike", "Pari", 0),
    ],
)
def test_string_checks_as_the_guide_tells_them(
    operation: str, response: str, expected: int
) -> None:
    document = {
        "type": "string_check",
        "name": "capital",
        "operation": operation,
        "input": "{{ sample.output_text }}",
        "reference": "{{ item.reference_answer }}",
    }
    assert value(document, response, {"reference_answer": "Paris"}) == expected


def test_a_number_in_an_item_is_compared_as_text() -> None:
    document = {
        "type": "string_check",
        "name": "n",
        "operation": "eq",
        "input": "{{ sample.output_text }}",
        "reference": "{{ item.reference_answer }}",
    }
    assert value(document, "1.0", {"reference_answer": 1.0}) == 1


def test_a_similarity_with_a_threshold_keeps_its_value() -> None:
    document = {
        "type": "text_similarity",
        "name": "t",
        "input": "{{ sample.output_text }}",
        "reference": "{{ item.reference_answer }}",
        "evaluation_metric": "rouge_l",
        "pass_threshold": 0.5,
    }
    assert value(document, "a b c", {"reference_answer": "a b c d"}) == pytest.approx(6 / 7)


def similar(**changes: Any) -> dict[str, Any]:
    return {
        "type": "text_similarity",
        "name": "t",
        "input": "x",
        "reference": "y",
        "evaluation_metric": "bleu",
        "pass_threshold": 0.5,
        **changes,
    }


@pytest.mark.parametrize(
    ("document", "field", "told"),
    [
        ({"type": "score_model", "name": "m", "input": []}, "type", "kind rubric"),
        ({"type": "label_model", "name": "m"}, "type", "kind rubric"),
        ({"type": "python", "source": "..."}, "type", "string_check, text_similarity and multi"),
        ({"type": "endpoint", "url": "https://x.example"}, "type", "kind http"),
        ({"type": "other"}, "", "other"),
        ({}, "", "type"),
        (similar(evaluation_metric="cosine"), "evaluation_metric", "embedding model"),
        (similar(evaluation_metric="meteor"), "evaluation_metric", "word list"),
        (similar(evaluation_metric="chrf"), "evaluation_metric", "fuzzy_match"),
        (similar(pass_threshold=2), "pass_threshold", "less than or equal to 1"),
        (similar(unknown=1), "unknown", "not permitted"),
        (
            {**NAME_AND_EMAIL, "graders": {"x": {"type": "score_model"}}},
            "graders.x.type",
            "register a score_model",
        ),
        ({**NAME_AND_EMAIL, "graders": {"x": NAME_AND_EMAIL}}, "graders.x.type", "no multi"),
        (
            {**NAME_AND_EMAIL, "graders": {"x": {"type": "string_check"}}},
            "graders.x.input",
            "required",
        ),
        (
            {
                "type": "multi",
                "graders": {
                    "function_name": {
                        "name": "function_name",
                        "type": "string_check",
                        "input": "get_acceptors",
                        "reference": "{{sample.output_tools[0].function.name}}",
                        "operation": "eq",
                    }
                },
                "calculate_output": "function_name",
            },
            "graders.function_name.reference",
            "text alone",
        ),
    ],
)
def test_what_is_not_supported_is_named(document: dict[str, Any], field: str, told: str) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        value(document, "", {})
    (fault,) = refused.value.fields
    assert fault.field == f"openai.{field}".rstrip(".")
    assert told in fault.expected
