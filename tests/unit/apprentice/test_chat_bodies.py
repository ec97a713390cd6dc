"""What a chat completion of a task may say: what nobody would heed is refused by name."""

import json
from typing import Any

import pytest

from autotune_platform.apprentice.chats.bodies import input_of, task_chat_of
from autotune_platform.runtime.errors import MalformedRequestError
from tests.support.apprentice import configuration

PROMPT = "You tell intents apart, in JSON."


def body(**fields: Any) -> bytes:
    asked = {
        "model": "apprentice/intents",
        "messages": [{"role": "user", "content": "Where is my card?"}],
        **fields,
    }
    return json.dumps(asked).encode()


def of_user(content: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": content}]}


def task(**properties: Any) -> dict[str, Any]:
    """Return a configuration that takes these properties, or one text."""
    made = configuration("llc_1")
    if properties:
        made["inputSchema"] = {"type": "object", "properties": properties}
    return made


def refused_by(content: bytes, document: dict[str, Any] | None = None) -> str:
    with pytest.raises(MalformedRequestError) as refused:
        input_of(task_chat_of(content), document or task())
    return refused.value.fields[0].field


def test_one_text_is_the_input_whatever_it_looks_like() -> None:
    for text in ("Where is my card?", '{"text": "a"}', "[1]", " "):
        assert input_of(task_chat_of(body(**of_user(text))), task()) == {"text": text}
    parts = [{"type": "text", "text": "Where is "}, {"type": "text", "text": "my card?"}]
    assert input_of(task_chat_of(body(**of_user(parts))), task()) == {"text": "Where is my card?"}


def test_several_properties_or_one_that_is_no_text_are_json() -> None:
    two = task(text={"type": "string"}, limit={"type": "integer"})
    value = {"text": "a", "limit": 3}
    assert input_of(task_chat_of(body(**of_user(json.dumps(value)))), two) == value
    one = task(lines={"type": "array"})
    assert input_of(task_chat_of(body(**of_user('{"lines": []}'))), one) == {"lines": []}
    for text in ("Where is my card?", "[]", '{"text": NaN}', '{"text": "a"'):
        assert refused_by(body(**of_user(text)), two) == "messages[0].content"


@pytest.mark.parametrize(
    "fields",
    [
        {"n": 1, "temperature": 1, "top_p": 1.0, "presence_penalty": 0, "frequency_penalty": 0.0},
        {"tools": [], "tool_choice": "auto", "logprobs": False, "stop": None, "seed": None},
        {"user": "u-1", "store": False, "logit_bias": {}, "unheard_of": None},
        {"service_tier": "auto"},
        {"service_tier": "default"},
        {"max_tokens": 50, "max_completion_tokens": 4_096},
        {"response_format": {"type": "json_object"}},
        {"response_format": {"type": "text"}},
        {
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "a", "schema": configuration("llc_1")["outputSchema"]},
            }
        },
        {"messages": [{"role": "system", "content": PROMPT}, {"role": "user", "content": "q"}]},
        {"messages": [{"role": "developer", "content": PROMPT}, {"role": "user", "content": "q"}]},
        {"stream": True, "stream_options": {"include_usage": True, "include_obfuscation": False}},
        {"stream": False, "stream_options": None},
    ],
)
def test_what_changes_nothing_is_taken(fields: dict[str, Any]) -> None:
    asked = task_chat_of(body(**fields))

    assert input_of(asked, task())["text"]
    assert asked.is_streamed is (fields.get("stream") is True)
    assert asked.with_usage is (fields.get("stream") is True)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n", 2),
        ("n", True),
        ("temperature", 0),
        ("temperature", 0.7),
        ("temperature", True),
        ("top_p", 0.9),
        ("presence_penalty", 0.1),
        ("frequency_penalty", False),
        ("seed", 3),
        ("stop", ["\n"]),
        ("logprobs", True),
        ("top_logprobs", 3),
        ("tools", [{"type": "function"}]),
        ("tool_choice", "required"),
        ("functions", [{"name": "f"}]),
        ("logit_bias", {"1": 2}),
        ("modalities", ["audio"]),
        ("reasoning_effort", "low"),
        ("service_tier", "flex"),
        ("service_tier", "priority"),
        ("store", True),
        ("metadata", {"a": "b"}),
        ("user", 3),
        ("unheard_of", False),
        ("stream", "yes"),
        ("stream_options", {"include_usage": True}),
        ("max_tokens", 49),
        ("max_tokens", 0),
        ("max_completion_tokens", True),
        ("model", 3),
        ("messages", []),
        ("messages", {"role": "user"}),
    ],
)
def test_what_would_change_the_answer_or_be_ignored_is_refused(name: str, value: Any) -> None:
    assert refused_by(body(**{name: value})) == name


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"stream": True, "stream_options": {"include_usage": 1}}, "stream_options.include_usage"),
        (
            {"stream": True, "stream_options": {"include_obfuscation": True}},
            "stream_options.include_obfuscation",
        ),
        ({"stream": True, "stream_options": {"a": 1}}, "stream_options.a"),
        ({"response_format": {"type": "grammar"}}, "response_format.type"),
        (
            {"response_format": {"type": "json_schema", "json_schema": {}}},
            "response_format.json_schema.schema",
        ),
        (
            {
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"schema": {"type": "object"}},
                }
            },
            "response_format.json_schema.schema",
        ),
    ],
)
def test_parts_of_parameters_are_named(fields: dict[str, Any], param: str) -> None:
    assert refused_by(body(**fields)) == param


@pytest.mark.parametrize(
    ("messages", "param"),
    [
        ([{"role": "system", "content": "Be brief."}, "user"], "messages[0].content"),
        (["user", {"role": "assistant", "content": "a"}, "user"], "messages[0]"),
        ([{"role": "system", "content": PROMPT}, "user", "user"], "messages[1]"),
        (["user", {"role": "assistant", "content": "a"}], "messages[1].role"),
        ([{"role": "system", "content": PROMPT}], "messages[0].role"),
        ([{"content": "q"}], "messages[0].role"),
        ([3], "messages[0]"),
        ([{"role": "user", "content": ""}], "messages[0].content"),
        ([{"role": "user", "content": []}], "messages[0].content"),
        ([{"role": "user", "content": [{"type": "image_url"}]}], "messages[0].content[0]"),
        ([{"role": "user", "content": "q", "name": "ann"}], "messages[0].name"),
        ([{"role": "user", "content": "x" * 100_000}], "messages[0].content"),
    ],
)
def test_messages_that_cannot_be_heeded_are_named(messages: list[Any], param: str) -> None:
    said = [{"role": "user", "content": "q"} if one == "user" else one for one in messages]

    assert refused_by(body(messages=said)) == param


def test_an_input_that_nests_too_deep_is_refused() -> None:
    deep = '{"lines": ' + "[" * 70 + "]" * 70 + "}"

    assert refused_by(body(**of_user(deep)), task(lines={})) == "messages[0].content"
