"""A completion belongs to a deck by its system prompt, and by nothing that is near it."""

import time

import pytest

from autotune_platform.judging.rubric import system_prompts
from autotune_platform.judging.rubric.conversations import completion_texts
from autotune_platform.judging.rubric.system_prompts import (
    is_written_under,
    normalized,
)
from autotune_platform.runtime.normal_texts import MOST_MARKS_TOGETHER
from tests.support.growth import growth


@pytest.mark.parametrize(
    ("template", "prompt"),
    [
        ("Be kind.", "Be kind."),
        ("Be kind.\n", "\n\nBe kind.  \r\n"),
        ("Caf\u00e9", "Cafe\u0301"),
        ("Hi {{name}}!", "Hi Ann!"),
        ("Hi {{name}}!", "Hi !"),
        ("{{a}} and {{b}}", "x and y and z"),
        ("{{a}}", "anything\nat all"),
        ("a {{x}} b {{y}} c", "a 1 b 2 b 3 c"),
    ],
)
def test_the_same_prompt_is_the_same(template: str, prompt: str) -> None:
    assert is_written_under(template, prompt)


@pytest.mark.parametrize(
    ("template", "prompt"),
    [
        ("Be kind.", "be kind."),
        ("Be kind.", "Be  kind."),
        ("Be kind.", "Be kind. And brief."),
        ("Be kind.", ""),
        ("Hi {{name}}!", "Hi Ann"),
        ("ab{{x}}bc", "abc"),
        ("a {{x}} b {{y}} c", "a 1 2 c"),
        ("{{not a name}}", "anything"),
    ],
)
def test_another_prompt_is_another(template: str, prompt: str) -> None:
    assert not is_written_under(template, prompt)


MARKS = ["\u0301\u0327", "\u0327\u0301", "\u0f73", "\u0344\u0316"]


@pytest.mark.parametrize("marks", MARKS, ids=ascii)
def test_characters_that_combine_take_linear_time(marks: str) -> None:
    def matched(characters: int) -> bool:
        return is_written_under("a{{x}}", "a" + marks * (characters // len(marks)))

    # Four times as many take four times as long, and sixteen times where it is quadratic.
    assert growth(matched, 10_000, 40_000) < 9


def test_a_few_characters_that_combine_are_put_into_order_and_many_are_still_compared() -> None:
    few = MOST_MARKS_TOGETHER // 2
    assert is_written_under("a" + "\u0301\u0327" * few, "a" + "\u0327" * few + "\u0301" * few)
    many = "a" + "\u0301\u0327" * 100
    assert is_written_under(many, many + "\n")
    assert not is_written_under(many, many + "\u0301")
    assert normalized("e\u0301" * 100) == "\u00e9" * 100
    assert normalized("\u0915\u093f" * 100) == "\u0915\u093f" * 100


def test_a_prompt_is_normalised_once_for_all_that_is_compared_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked_at: list[str] = []

    def counting(prompt: str) -> str:
        looked_at.append(prompt)
        return normalized(prompt)

    monkeypatch.setattr(system_prompts, "normalized", counting)
    prompt = f"Prompt of {time.monotonic_ns()} {{{{day}}}}"
    for place in range(5):
        assert not is_written_under(prompt, f"text {place}")
    assert looked_at.count(prompt) == 1


def test_many_placeholders_take_linear_time() -> None:
    template = "a{{x}}" * 5_000 + "!"
    started = time.process_time()
    assert not is_written_under(template, "a" * 200_000)
    assert time.process_time() - started < 2


def test_a_completion_says_what_it_was_written_under() -> None:
    plain = completion_texts("Who?", "She.", {})
    assert (plain.system, plain.turns[0].text, plain.response) == (None, "Who?", "She.")
    named = completion_texts("Who?", "She.", {"systemPrompt": "Be kind."})
    assert named.system == "Be kind."
    adapters = completion_texts("system: Be kind.\n\nuser: Who?\n\nassistant: She.", "r", {})
    assert adapters.system == "Be kind."
    assert [(turn.role, turn.text) for turn in adapters.turns] == [
        ("user", "Who?\n\nassistant: She.")
    ]
    messages = completion_texts(
        '{"messages": [{"role": "system", "content": "Be kind."},'
        ' {"role": "user", "content": "W"}]}',
        "r",
        {},
    )
    assert (messages.system, [turn.text for turn in messages.turns]) == ("Be kind.", ["W"])


@pytest.mark.parametrize(
    "prompt",
    [
        "[1, 2]",
        "{}",
        "[",
        '{"messages": []}',
        '[{"content": "x"}]',
        "system: only this",
        "[" * 9_999,
    ],
)
def test_what_is_no_conversation_is_what_a_user_said(prompt: str) -> None:
    texts = completion_texts(prompt, "r", {"systemPrompt": 7})
    assert (texts.system, [turn.text for turn in texts.turns]) == (None, [prompt])
