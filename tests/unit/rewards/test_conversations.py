"""Conversations as text, by the rule in the guides."""

from typing import Any

import pytest

from autotune_platform.rewards.conversations import as_text, text_of
from autotune_platform.runtime.errors import InvalidRequestError

USER = {"role": "user", "content": "2 + 2?"}


def test_one_message_is_its_text() -> None:
    assert as_text([USER], field="f") == "2 + 2?"


def test_several_are_told_apart_by_who_says_them() -> None:
    said = [{"role": "system", "content": "Be brief."}, USER]
    assert as_text(said, field="f") == "system: Be brief.\n\nuser: 2 + 2?"


def test_parts_follow_each_other() -> None:
    parts = [{"type": "text", "text": "2 "}, {"type": "input_text", "text": "+ 2?"}]
    assert as_text([{"role": "user", "content": parts}], field="f") == "2 + 2?"
    assert text_of([{"type": "refusal", "refusal": "No."}], field="f") == "No."


def test_calls_of_tools_are_told_as_json_whatever_the_order_of_their_fields() -> None:
    call = {"type": "function", "function": {"name": "add", "arguments": "{}"}}
    shuffled = {"function": {"arguments": "{}", "name": "add"}, "type": "function"}
    texts = {
        as_text([USER, {"role": "assistant", "content": None, "tool_calls": [one]}], field="f")
        for one in (call, shuffled)
    }
    assert texts == {
        (
            'user: 2 + 2?\n\nassistant: [{"function":{"arguments":"{}","name":"add"},'
            '"type":"function"}]'
        )
    }
    output = {"type": "function_call_output", "call_id": "c", "output": "4"}
    assert as_text([USER, output], field="f").endswith(
        'function_call_output: {"call_id":"c","output":"4","type":"function_call_output"}'
    )


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ("hello", "f[0]"),
        ({"content": "x"}, "f[0].role"),
        ({"role": 1, "content": "x"}, "f[0].role"),
        ({"role": "user", "content": 7}, "f[0].content"),
        ({"role": "user", "content": [{"type": "image_url"}]}, "f[0].content[0]"),
        ({"role": "user", "content": [{"type": "text", "text": 7}]}, "f[0].content[0]"),
        ({"role": "user", "content": ["x"]}, "f[0].content[0]"),
    ],
)
def test_what_is_not_text_is_refused_by_its_field(message: Any, field: str) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        as_text([message], field="f")
    assert [one.field for one in refused.value.fields] == [field]
