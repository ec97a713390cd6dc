"""Grader JSON of OpenAI's that asks a model: what it means here, and what is refused."""

from typing import Any

import pytest

from autotune_platform.checks.faults import CompletionFaultError
from autotune_platform.checks.openai_models import rubric_from_openai
from autotune_platform.checks.rubrics import ANSWER, Rubric
from autotune_platform.checks.templates import Sample
from autotune_platform.judging.rubric.answers import read_answer
from autotune_platform.runtime.errors import InvalidRequestError

CONNECTION = "llc_00000000000000000000000000"
ASKED = {"role": "user", "content": "How good is {{ sample.output_text }}?"}
SCORE = {"type": "score_model", "name": "n", "model": "small", "input": [ASKED]}
LABEL = {**SCORE, "type": "label_model", "labels": ["a", "b"], "passing_labels": ["a"]}


def read(document: dict[str, Any], max_tokens: int | None = None) -> Any:
    return rubric_from_openai(
        document, connection_id=CONNECTION, max_tokens=max_tokens, field="openai"
    )


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"type": "string_check"}, "openai.type"),
        ({"input": []}, "openai.input"),
        ({"input": [{"role": "assistant", "content": "x"}]}, "openai.input.0.role"),
        ({"input": [ASKED, {"role": "system", "content": "x"}]}, "openai.input.1.role"),
        (
            {"input": [{"role": "user", "content": {"type": "input_image", "image_url": "u"}}]},
            "openai.input.0.content",
        ),
        ({"range": [1, 0]}, "openai.answer"),
        ({"range": [0]}, "openai.range.1"),
        ({"pass_threshold": 2}, "openai.answer"),
        ({"sampling_params": {"temperature": 3}}, "openai.params.temperature"),
        ({"sampling_params": {"top_k": 3}}, "openai.sampling_params.top_k"),
        ({"model": ""}, "openai.model"),
    ],
    ids=[
        *("type", "nothing", "assistant", "order", "image", "range", "half", "threshold"),
        *("temperature", "unknown", "model"),
    ],
)
def test_what_cannot_be_asked_is_refused_by_its_field(change: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        read({**SCORE, **change})
    assert [one.field for one in refused.value.fields] == [field]


@pytest.mark.parametrize("passing", [["c"], []], ids=["unknown", "none"])
def test_passing_labels_are_some_of_the_labels(passing: list[str]) -> None:
    with pytest.raises(InvalidRequestError):
        read({**LABEL, "passing_labels": passing})


def test_messages_become_instructions_and_a_question() -> None:
    messages = [
        {"role": "system", "content": "One."},
        {"role": "developer", "content": ["Two.", {"type": "input_text", "text": "Three."}]},
        ASKED,
        {"role": "user", "content": "Well?"},
    ]
    found = read({**SCORE, "input": messages})
    assert found.system == "One.\n\nTwo.\n\nThree."
    assert found.user == "How good is {{ sample.output_text }}?\n\nWell?"
    alone = read({**SCORE, "input": messages[:1]})
    assert (alone.system, alone.user) == (None, "One.")


def test_the_longest_answer_is_what_was_asked_for() -> None:
    said = {**SCORE, "sampling_params": {"max_completions_tokens": 70}}
    assert [read(SCORE).params.max_tokens, read(said).params.max_tokens] == [2_048, 70]
    assert read(said, max_tokens=9).params.max_tokens == 9


def test_texts_travel_in_variables_alone() -> None:
    rubric = Rubric(read(SCORE), field="openai")
    sample = Sample(prompt="p", response="{{ item.secret }}", metadata={"secret": "s"})
    found = rubric.variables(sample)
    assert found["place_0"] == "{{ item.secret }}"
    assert rubric.user == "How good is {{place_0}}?\n\n{{autotune_form}}"
    assert ANSWER not in rubric.user


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"steps": [], "result": 0.25}', 0.25),
        ('```json\n{"result": 1}\n```', 1.0),
        ("0.5", 0.5),
        (' {"result": 0} ', 0.0),
    ],
    ids=["object", "fence", "alone", "spaces"],
)
def test_a_result_is_read(text: str, value: float) -> None:
    form = '{"type": "score", "passThreshold": 0.5}'
    score = read_answer(text, form)
    assert score.value == value
    assert score.dimensions is not None
    assert score.dimensions[0].value == float(value >= 0.5)


@pytest.mark.parametrize(
    "text",
    ["", "nan", "1e999", '{"result": null}', '{"result": "1"}', "{", '{"result": [1]}', "good"],
)
def test_what_has_no_result_is_a_failure(text: str) -> None:
    with pytest.raises(CompletionFaultError) as fault:
        read_answer(text, '{"type": "score"}')
    assert fault.value.reason_code == "model_answer_unreadable"


def test_a_label_is_one_of_the_labels_to_the_letter() -> None:
    form = '{"type": "label", "labels": ["good", "bad"], "passingLabels": ["good"]}'
    assert read_answer('{"result": "good"}', form).value == 1.0
    assert read_answer("bad", form).value == 0.0
    for text in ('{"result": "Good"}', "quite good", '{"result": 1}'):
        with pytest.raises(CompletionFaultError):
            read_answer(text, form)
