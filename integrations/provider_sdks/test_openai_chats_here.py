"""The openai package, unchanged: chat completions through Autotune's own ``/v1``."""

import json

import openai
import pytest

MODEL = "fake/small"
MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "q"}]
TOOLS = [
    {
        "type": "function",
        "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}},
    }
]


def test_an_answer_with_tools_and_usage(served):
    answer = served.client.chat.completions.create(
        model=MODEL, messages=MESSAGES, tools=TOOLS, max_tokens=40, seed=3
    )
    openai.types.chat.ChatCompletion.model_validate(answer.model_dump(), strict=True)
    assert answer.choices[0].message.content
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens
    assert answer.id


def test_an_answer_in_a_schema_is_parsed_by_the_package(served):
    schema = {
        "type": "object",
        "properties": {"word": {"type": "string"}},
        "required": ["word"],
        "additionalProperties": False,
    }
    form = {"type": "json_schema", "json_schema": {"name": "w", "strict": True, "schema": schema}}
    answer = served.client.chat.completions.create(
        model=MODEL, messages=MESSAGES, response_format=form
    )
    assert json.loads(answer.choices[0].message.content)["word"]


def test_a_stream_adds_up_to_the_answer(served):
    text, usage = "", None
    with served.client.chat.completions.create(
        model=MODEL, messages=MESSAGES, stream=True, stream_options={"include_usage": True}
    ) as stream:
        for chunk in stream:
            usage = chunk.usage or usage
            text += "".join(one.delta.content or "" for one in chunk.choices)
    assert text
    assert usage.completion_tokens > 0
    with served.client.chat.completions.stream(model=MODEL, messages=MESSAGES) as helper:
        assert helper.get_final_completion().choices[0].message.content


def test_models_are_listed(served):
    assert [one.id for one in served.client.models.list()] == [MODEL]


def test_errors_are_the_packages_own(served):
    create = served.client.chat.completions.create
    with pytest.raises(openai.NotFoundError) as unknown:
        create(model="small", messages=MESSAGES)
    assert unknown.value.code == "model_not_found"
    with pytest.raises(openai.BadRequestError) as refused:
        create(model=MODEL, messages=MESSAGES, n=2)
    assert refused.value.param == "n"
    with pytest.raises(openai.AuthenticationError):
        served.as_bearer_of("sk-wrong").chat.completions.create(model=MODEL, messages=MESSAGES)
