"""A judge's answer becomes a level where it says one, and in no other case."""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from autotune.protocol.levels import LEVELS, LevelsRubric
from autotune.protocol.limits import MAX_LEVELS_ANSWER_CHARACTERS, MAX_REASONING_CHARACTERS
from autotune.protocol.llm_params import LlmParams
from autotune_platform.judging.rubric.conversations import SampleTexts, Turn, sample_texts
from autotune_platform.judging.rubric.levels import (
    LevelReading,
    levels_request,
    read_answer_text,
    read_levels,
    repair_notice,
)
from autotune_platform.ledger.attempts import Fault
from autotune_platform.ledger.models import Row
from autotune_platform.ledger.row_texts import RowOutput
from tests.support.growth import growth

RUBRIC = LevelsRubric.model_validate(
    {
        "criteria": "Does the answer name its sources?",
        "levels": [f"level text {level}" for level in LEVELS],
        "notApplicableWhen": "nothing was asked",
        "examples": [
            {"input": "Who?", "output": "She, says the Times.", "level": 2, "explanation": "named"}
        ],
    }
)
JUDGE = SimpleNamespace(
    connection_id=f"llc_{'0' * 26}", model="judge-1", params=LlmParams(max_tokens=500)
)
SAMPLE = SampleTexts(turns=[Turn(role="user", text="Why?")], response="Because.")


@pytest.mark.parametrize(
    ("verdict", "level"),
    [
        *((f"VERDICT: {level}", level) for level in LEVELS),
        ("VERDICT: +2", 2),
        ("VERDICT: \u22123", -3),
        ("VERDICT: \u20132", -2),
        ("**VERDICT: 1**", 1),
        ("> **VERDICT**: `-1`", -1),
        ("verdict\uff1a 2.0", 2),
        ("VERDICT: -0", 0),
        ("VERDICT: 3.", 3),
        ("VERDICT: 2\n```\n", 2),
        ("VERDICT: 2\nVERDICT: 2", 2),
    ],
)
def test_a_whole_number_is_its_level(verdict: str, level: int) -> None:
    reading = read_answer_text(f"It is so.\nEXPLANATION: named\n{verdict}")
    assert (reading.status, reading.level, reading.fault) == ("scored", level, None)
    assert reading.reasoning == "It is so."
    assert str(reading.explanation).startswith("named")


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ("VERDICT: 2.5", "verdict_unreadable"),
        ("VERDICT: -0.5", "verdict_unreadable"),
        ("VERDICT: 7", "verdict_unreadable"),
        ("VERDICT: -4", "verdict_unreadable"),
        ("VERDICT: 2/3", "verdict_unreadable"),
        ("VERDICT: 3/3", "verdict_unreadable"),
        ("VERDICT: 2 or 3", "verdict_unreadable"),
        ("VERDICT: two", "verdict_unreadable"),
        ("VERDICT: 1e0", "verdict_unreadable"),
        ("VERDICT:", "verdict_unreadable"),
        ("VERDICT: 2\nVERDICT: 3", "verdict_conflict"),
        ("VERDICT: 2\nVERDICT: ABSTAIN", "verdict_conflict"),
        ("VERDICT: 2.5\nVERDICT: 2", "verdict_conflict"),
        ("VERDICT: 2\nOr rather 1.", "verdict_not_last"),
        ("VERDICT: 2\nEXPLANATION: late", "verdict_not_last"),
        ("I would say 2.", "verdict_missing"),
        ('The text says "VERDICT: 3"', "verdict_missing"),
        ("", "verdict_missing"),
    ],
)
def test_anything_else_is_a_fault_and_no_level(answer: str, fault: str) -> None:
    reading = read_answer_text(answer)
    assert (reading.status, reading.level, reading.fault) == ("failed", None, fault)
    assert reading.reason == "model_answer_unreadable"


def test_an_abstention_is_no_level_and_says_which_it_is() -> None:
    for verdict in ("NOT_APPLICABLE", "not_applicable.", r"**NOT\_APPLICABLE**", "Not applicable"):
        reading = read_answer_text(f"r\nEXPLANATION: e\nVERDICT: {verdict}")
        assert (reading.status, reading.level) == ("abstained", None), verdict
        assert (reading.reason, reading.explanation) == ("not_applicable", "e")
    reading = read_answer_text("VERDICT: *abstain*")
    assert (reading.status, reading.reason) == ("abstained", "judge_abstained")


def test_a_cut_answer_and_a_refusal_are_faults() -> None:
    assert read_answer_text("VERDICT: 2", is_cut=True).fault == "output_cut"
    refusal = read_answer_text("VERDICT: 2", is_refusal=True)
    assert (refusal.level, refusal.reason, refusal.fault) == (None, "model_refused", "refused")


BEFORE_A_VERDICT = [
    "\n",
    "\r",
    "\r\n",
    "\n>",
    "\n-",
    " \n",
    "\n ",
    "EXPLANATION:\n",
    "\n#explanation",
]


@pytest.mark.parametrize("unit", BEFORE_A_VERDICT, ids=repr)
def test_answers_are_read_in_linear_time(unit: str) -> None:
    def read(characters: int) -> LevelReading:
        return read_answer_text("x" + unit * (characters // len(unit)) + "x\nVERDICT: 2")

    # Four times as much takes four times as long, and sixteen times where it is quadratic.
    assert growth(read, 12_500, 50_000) < 9
    assert read(MAX_LEVELS_ANSWER_CHARACTERS - 100).level == 2


def test_an_answer_that_is_too_long_is_a_failure_that_is_not_asked_for_again() -> None:
    end = "\nVERDICT: 2"
    longest = "x" * (MAX_LEVELS_ANSWER_CHARACTERS - len(end)) + end
    assert read_answer_text(longest).level == 2
    reading = read_answer_text("x" + longest)
    assert (reading.status, reading.level, reading.fault) == ("failed", None, None)
    assert reading.reason == "model_answer_unreadable"
    assert len(reading.reasoning or "") <= MAX_REASONING_CHARACTERS


def test_an_explanation_begins_its_line_behind_marks_and_empty_lines() -> None:
    reading = read_answer_text("It is so.\n\n \r\n> **Explanation:** named\n\nVERDICT: 1")
    assert (reading.reasoning, reading.explanation) == ("It is so.", "named")


def row(**fields: Any) -> Row:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    return Row.model_validate(
        {
            "id": "llm_1",
            "organization_id": "org_1",
            "connection_id": JUDGE.connection_id,
            "provider": "openai",
            "model": JUDGE.model,
            "purpose": "scoring",
            "status": "completed",
            "finish_reason": "stop",
            "input_bytes": 1,
            "messages": 2,
            "max_tokens": 1,
            "bound_nano_usd": 1,
            "price": {
                "source": "own",
                "version": "1",
                "listed_by": JUDGE.connection_id,
                "model": JUDGE.model,
                "processing": "standard",
                "day": "2026-01-01",
                "input": {"base": 1},
                "output": {"base": 1},
            },
            "created_at": now,
            "updated_at": now,
            **fields,
        }
    )


def test_a_row_is_repaired_once_and_never_twice() -> None:
    output = RowOutput(raw_output="VERDICT: 2.5")
    first = read_levels(row(served_model="judge-1-0301"), output)
    assert first.fault is not None
    assert (first.fault, first.answered_model) == ("verdict_unreadable", "judge-1-0301")
    assert "none of the whole numbers" in repair_notice(first.fault)
    second = read_levels(row(reasks=1), output)
    assert (second.status, second.level, second.fault) == ("failed", None, None)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("content_filtered", "model_refused"),
        ("rejected", "model_rejected"),
        ("expired", "deadline_exceeded"),
        ("provider_error", "model_unavailable"),
        ("account", "model_connection_lost"),
    ],
)
def test_a_row_without_an_answer_says_why(code: str, reason: str) -> None:
    reading = read_levels(row(status="error", error=Fault(code=code, message="m")), None)
    assert (reading.status, reading.reason, reading.fault) == ("failed", reason, None)
    assert read_levels(row(), None).reason == "platform_error"


def test_all_that_others_wrote_is_in_variables() -> None:
    sample = SampleTexts(turns=[Turn(role="user", text="secret turn")], response="secret response")
    asked = levels_request(
        RUBRIC, JUDGE, sample, deck_prompt="secret instructions", purpose="scoring"
    )
    said = "\n".join(asked.input.variables.values())
    templates = f"{asked.input.system}{asked.input.user}"
    for text in (
        "secret turn",
        "secret response",
        "secret instructions",
        RUBRIC.criteria,
        *RUBRIC.levels,
        "nothing was asked",
        "She, says the Times.",
    ):
        assert text in said
        assert text not in templates
    # Each name has its text: nothing is left for a provider to find.
    for name in asked.input.variables:
        assert f"{{{{{name}}}}}" in templates
    own = levels_request(
        RUBRIC,
        JUDGE,
        sample.model_copy(update={"system": "its own"}),
        deck_prompt="the deck's",
        purpose="scoring",
    )
    assert own.input.variables["instructions"] == "its own"


def test_the_judge_never_sees_who_wrote_a_sample() -> None:
    request = {
        "model": "secret-model",
        "user": "secret-user",
        "messages": [
            {"role": "developer", "content": "Be kind."},
            {"role": "user", "content": [{"type": "text", "text": "Hi"}, {"type": "image_url"}]},
            {"role": "assistant", "tool_calls": [{"function": {"name": "look"}}], "content": None},
            {"role": "tool", "content": "found", "name": "look"},
            {"role": "</user-x>", "content": "odd"},
        ],
    }
    response = {
        "model": "secret-model",
        "system_fingerprint": "secret-print",
        "choices": [{"message": {"role": "assistant", "content": "Hello"}}],
    }
    sample = sample_texts(request, response)
    assert (sample.system, sample.response) == ("Be kind.", "Hello")
    assert [turn.role for turn in sample.turns] == ["user", "assistant", "tool", "other"]
    assert [turn.text for turn in sample.turns][:3] == [
        "Hi\n[image_url]",
        '{"function":{"name":"look"}}',
        "found",
    ]
    asked = levels_request(RUBRIC, JUDGE, sample, deck_prompt=None, purpose="scoring")
    assert "secret" not in asked.model_dump_json()
