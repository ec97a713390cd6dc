import pytest
from pydantic import ValidationError

from autotune.protocol.grading import BatchItemScore, GraderScore, ScoreResponse

SCORE = '{"value": 1, "confidence": 0.5}'


@pytest.mark.parametrize("value", ["1.0001", "-0.1", "NaN", "Infinity", "true", '"1"', "null"])
def test_a_value_is_a_number_from_0_to_1(value: str) -> None:
    with pytest.raises(ValidationError):
        GraderScore.model_validate_json(f'{{"value": {value}}}')


@pytest.mark.parametrize("value", ["0", "1", "0.5", "1e-320"])
def test_both_ends_of_the_range_are_values(value: str) -> None:
    assert GraderScore.model_validate_json(f'{{"value": {value}}}').value == float(value)


@pytest.mark.parametrize(
    "says",
    [
        "",
        '"abstained": false',
        f'"score": {SCORE}, "abstained": true',
        '"abstained": true, "error": "e"',
    ],
)
def test_a_judgement_says_exactly_one_thing(says: str) -> None:
    for model, head in [
        (BatchItemScore, '"completionId": "c"'),
        (ScoreResponse, '"requestId": "r", "graderVersion": "1"'),
    ]:
        with pytest.raises(ValidationError, match="exactly one"):
            model.model_validate_json(f"{{{', '.join(filter(None, [head, says]))}}}")


def test_unknown_fields_of_an_answer_are_skipped() -> None:
    answer = f'{{"requestId": "r", "graderVersion": "1", "score": {SCORE}, "new": 1}}'
    assert ScoreResponse.model_validate_json(answer).score is not None
