"""A code fence around all of an answer says nothing; nothing else is taken off."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune_platform.apprentice.evaluators import ExactMatch, StructuredMatch
from autotune_platform.apprentice.fences import unfenced
from autotune_platform.apprentice.runs.outputs import read_output

ANSWER = '{"intent": "book", "say": "```json\\n{}\\n```"}'
SCHEMA = {"type": "object", "properties": {"intent": {}}, "required": ["intent"]}


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{ANSWER}\n```",
        f"```\n{ANSWER}\n```",
        f"```JSON \r\n{ANSWER}\r\n```\r\n",
        f"\n \n  ```json\n\n{ANSWER}\n\n```\n\n",
    ],
)
def test_one_fence_around_all_of_it_is_taken_off(text: str) -> None:
    found = read_output(text, SCHEMA)
    assert found == read_output(ANSWER, SCHEMA) is not None
    assert StructuredMatch(["intent"], SCHEMA).evaluate(text, ANSWER).score == 1
    assert StructuredMatch(["intent"], SCHEMA).evaluate(ANSWER, text).score == 1
    assert ExactMatch().evaluate(text, ANSWER).score == 1


@pytest.mark.parametrize(
    "text",
    [
        f"Here it is:\n```json\n{ANSWER}\n```",
        f"```json\n{ANSWER}\n```\nThat is all.",
        f"```json\n{ANSWER}\n```\n```json\n{ANSWER}\n```",
        f"```json\n```json\n{ANSWER}\n```\n```",
        f"```json\n{ANSWER}",
        f"{ANSWER}\n```",
        f"```json {ANSWER} ```",
        f"```json\n{ANSWER}```",
        f"```python\n{ANSWER}\n```",
        f"````\n{ANSWER}\n````",
        f"~~~\n{ANSWER}\n~~~",
        f"`{ANSWER}`",
        "```json\n```",
        "```",
        "``````",
    ],
)
def test_anything_else_is_no_answer(text: str) -> None:
    assert read_output(text, SCHEMA) is None
    assert StructuredMatch(["intent"], SCHEMA).evaluate(text, ANSWER).score == 0
    assert ExactMatch().evaluate(text, ANSWER).score == 0


def test_texts_that_are_no_json_are_compared_with_their_fences() -> None:
    assert ExactMatch().evaluate("```\nyes\n```", "yes").score == 0
    assert ExactMatch().evaluate("```\nyes\n```", "```\nyes\n```").score == 1


@given(st.text())
def test_a_text_without_backticks_stays_as_it_is(text: str) -> None:
    assert "`" in text or unfenced(text) == text


@given(st.text(alphabet='`\n json{}"\r\t'))
def test_what_is_taken_off_is_the_first_line_and_the_last(text: str) -> None:
    inside = unfenced(text)
    if inside != text:
        assert text.strip(" \t\r\n").endswith(f"\n{inside}```")
        assert unfenced(f"```\n{text.strip(' ')}\n```") == f"{text.strip(' ')}\n"
