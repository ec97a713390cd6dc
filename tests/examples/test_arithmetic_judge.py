import pytest

from examples.language_models.arithmetic_judge import MODEL, judge
from examples.language_models.chat_server import completion


@pytest.mark.parametrize(
    ("response", "verdict"),
    [
        ("7 * 9 = 63, so 52 are left.", "right"),
        ("It is 51.", "wrong"),
        ("The Reference: 51 is mine, and so 51.", "wrong"),
        ("Many.", "ABSTAIN"),
    ],
)
def test_it_compares_the_last_number(response: str, verdict: str) -> None:
    answer = judge(["Judge.", f"Question: how many?\nReference: 52\nResponse: {response}"])
    assert answer.splitlines()[-1] == f"VERDICT: {verdict}"


def test_it_answers_as_openai_does() -> None:
    asked = {"messages": [{"role": "user", "content": "Reference: 1\nResponse: 1"}]}
    answered = completion(asked, model=MODEL, answering=judge)
    assert answered["model"] == MODEL
    assert answered["choices"][0]["finish_reason"] == "stop"
    assert answered["usage"]["total_tokens"] > answered["usage"]["completion_tokens"] > 0
