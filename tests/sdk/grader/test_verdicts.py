"""What a function may say, and what becomes of it."""

import json
import logging
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from autotune.grader import (
    Abstain,
    GradedCompletion,
    GraderContext,
    GraderDefinitionError,
    GraderScore,
    InvalidScoreError,
    ScoreDimension,
    ScoreOptions,
    grader,
)
from autotune.protocol.grading import ScoreResponse


def answered(result: dict[str, Any]) -> dict[str, Any]:
    return json.loads(result["body"])


def grader_of(function: Any, **settings: Any) -> Any:
    return grader(name="test", **settings)(function)


class Halved:
    """Callable objects are functions too."""

    async def __call__(self, completion: GradedCompletion) -> float:
        return 0.5


@pytest.mark.parametrize(
    ("returned", "value"),
    [
        (0.25, 0.25),
        (1, 1.0),
        (0, 0.0),
        (Fraction(1, 4), 0.25),
        (GraderScore(value=0.5, confidence=0.5), 0.5),
    ],
)
def test_numbers_and_scores_become_the_value(
    returned: Any, value: float, secret: str, score_event: Any
) -> None:
    graded = grader_of(lambda completion: returned, secrets=secret)
    result = graded.lambda_handler(score_event())
    assert result["statusCode"] == 200
    assert answered(result)["score"]["value"] == value


@pytest.mark.parametrize(
    "returned",
    [
        float("nan"),
        float("inf"),
        1.2,
        -0.1,
        True,
        None,
        "0.5",
        Decimal("0.5"),
        [0.5],
        GraderScore.model_construct(value=1.2, confidence=1.0),
        GraderScore.model_construct(value="high", confidence=1.0),
        GraderScore.model_construct(value=0.5, confidence=float("nan")),
    ],
    ids=str,
)
def test_what_is_no_score_fails_the_completion(
    returned: Any, secret: str, score_event: Any
) -> None:
    graded = grader_of(lambda completion: returned, secrets=secret)
    result = graded.lambda_handler(score_event())
    assert result["statusCode"] == 200
    assert answered(result)["error"] == "grader_failed"
    assert "score" not in answered(result)
    assert "x-autotune-response-signature" in result["headers"]
    with pytest.raises(InvalidScoreError):
        graded.grade(prompt="?", response="!")


def test_an_exception_never_leaves_the_process(
    secret: str, score_event: Any, caplog: pytest.LogCaptureFixture
) -> None:
    def failing(completion: GradedCompletion) -> float:
        raise KeyError("internal table rubric_v7")

    result = grader_of(failing, secrets=secret).lambda_handler(score_event())
    assert result["statusCode"] == 200
    assert ScoreResponse.model_validate_json(result["body"]).error == "grader_failed"
    assert "rubric_v7" not in json.dumps(result)
    assert "KeyError" not in json.dumps(result)
    assert "rubric_v7" in caplog.text


def test_completion_text_is_not_logged(
    secret: str, score_event: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    overlong = "confidential response " * 2_000

    def wordy(completion: GradedCompletion) -> GraderScore:
        return GraderScore.model_construct(value=0.5, confidence=1.0, reasoning=overlong)

    result = grader_of(wordy, secrets=secret).lambda_handler(score_event(response=overlong))
    assert answered(result)["error"] == "grader_failed"
    assert "reasoning" in caplog.text
    assert "confidential" not in caplog.text


def raises_instance(completion: GradedCompletion) -> float:
    raise Abstain("no reference")


def returns_class(completion: GradedCompletion) -> type[Abstain]:
    return Abstain


async def returns_instance(completion: GradedCompletion) -> Abstain:
    return Abstain("no reference")


@pytest.mark.parametrize("function", [raises_instance, returns_class, returns_instance])
def test_abstaining_is_an_answer_without_a_score(
    function: Any, secret: str, score_event: Any
) -> None:
    graded = grader_of(function, secrets=secret)
    result = graded.lambda_handler(score_event())
    assert result["statusCode"] == 200
    answer = answered(result)
    assert answer["abstained"] is True
    assert "score" not in answer
    assert "no reference" not in result["body"]
    with pytest.raises(Abstain):
        graded.grade(prompt="?", response="!")


def detailed(completion: GradedCompletion) -> GraderScore:
    return GraderScore(
        value=0.5,
        confidence=0.75,
        dimensions=[ScoreDimension(name="style", value=0.5, weight=2.0)],
        reasoning="because",
    )


@pytest.mark.parametrize("include_dimensions", [True, False])
@pytest.mark.parametrize("include_explanation", [True, False])
def test_details_are_sent_only_if_asked_for(
    include_dimensions: bool, include_explanation: bool, secret: str, score_event: Any
) -> None:
    options = {"includeDimensions": include_dimensions, "includeExplanation": include_explanation}
    result = grader_of(detailed, secrets=secret).lambda_handler(score_event(options))
    score = answered(result)["score"]
    assert ("dimensions" in score) == include_dimensions
    assert ("reasoning" in score) == include_explanation
    assert score["confidence"] == 0.75


def test_a_second_parameter_receives_the_context(secret: str, score_event: Any) -> None:
    seen: list[GraderContext] = []

    def with_context(completion: GradedCompletion, context: GraderContext) -> float:
        seen.append(context)
        return 1.0

    event = score_event({"includeExplanation": True})
    grader_of(with_context, secrets=secret).lambda_handler(event)
    assert seen[0].request_id == json.loads(event["body"])["requestId"]
    assert seen[0].options == ScoreOptions(include_explanation=True)


def test_an_own_second_parameter_with_a_default_is_left_alone() -> None:
    def with_threshold(completion: GradedCompletion, threshold: float = 0.5) -> float:
        return threshold

    assert grader_of(with_threshold).grade(prompt="?", response="!").value == 0.5


def test_a_callable_object_and_a_wrapped_async_function_are_graders() -> None:
    async def inner(completion: GradedCompletion) -> float:
        return 0.25

    def wrapper(completion: GradedCompletion) -> Any:
        return inner(completion)

    assert grader_of(Halved()).grade(prompt="?", response="!").value == 0.5
    assert grader_of(wrapper).grade(prompt="?", response="!").value == 0.25


def test_stop_iteration_fails_the_completion_and_does_not_hang(
    secret: str, score_event: Any
) -> None:
    def searching(completion: GradedCompletion) -> float:
        return next(iter(()))

    result = grader_of(searching, secrets=secret).lambda_handler(score_event())
    assert answered(result)["error"] == "grader_failed"


def test_calling_a_grader_calls_the_function() -> None:
    completion = GradedCompletion(id="c", task_id="t", prompt="?", response="!")
    assert grader_of(lambda completion: "as it is")(completion) == "as it is"
    assert grader_of(raises_instance).__name__ == "raises_instance"


def test_metadata_and_identity_reach_the_function() -> None:
    def reading(completion: GradedCompletion) -> float:
        return 1.0 if (completion.metadata["a"], completion.model_id) == (1, "m") else 0.0

    score = grader_of(reading).grade(prompt="?", response="!", metadata={"a": 1}, model_id="m")
    assert score.value == 1.0


@pytest.mark.parametrize(
    "function",
    [lambda: 1.0, lambda a, b, c: 1.0, lambda *, completion: 1.0, lambda completion, *, key: 1.0],
)
def test_a_function_with_other_parameters_is_no_grader(function: Any) -> None:
    with pytest.raises(GraderDefinitionError, match="must take a completion"):
        grader_of(function)


@pytest.mark.parametrize(
    "settings",
    [
        {"name": ""},
        {"version": ""},
        {"max_batch_size": 0},
        {"max_batch_size": 501},
        {"max_concurrency": 0},
        {"domains": [""]},
        {"avg_latency_ms": -1},
    ],
    ids=str,
)
def test_settings_out_of_range_are_refused_at_definition(settings: dict[str, Any]) -> None:
    with pytest.raises(GraderDefinitionError):
        grader(**{"name": "test", **settings})(lambda completion: 1.0)
