"""The openai package, unchanged: a task of the apprentice answers its chat completions."""

import json

import openai
import pytest

MODEL = "apprentice/intents"
MESSAGES = [{"role": "user", "content": "Let me in!"}]
CONTENT = '{"intent":"open_door"}'


def create(served, **fields):
    return served.client.chat.completions.create(model=MODEL, messages=MESSAGES, **fields)


def test_an_answer_has_the_form_that_the_package_knows(served_task):
    answer = create(served_task, temperature=1, max_completion_tokens=1_000)
    openai.types.chat.ChatCompletion.model_validate(answer.model_dump(), strict=True)
    assert answer.choices[0].message.content == CONTENT
    assert answer.model == MODEL
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens
    assert [one.id for one in served_task.client.models.list()] == [MODEL]


def test_a_stream_adds_up_to_the_answer(served_task):
    text, usage = "", None
    with create(served_task, stream=True, stream_options={"include_usage": True}) as stream:
        for chunk in stream:
            usage = chunk.usage or usage
            text += "".join(one.delta.content or "" for one in chunk.choices)
    assert text == CONTENT
    assert usage.completion_tokens == len(CONTENT)
    with served_task.client.chat.completions.stream(model=MODEL, messages=MESSAGES) as helper:
        assert helper.get_final_completion().choices[0].message.content == CONTENT


def test_an_exhausted_budget_is_a_quota_that_is_asked_for_once(served_task):
    served_task.post("/_exhaust")
    with pytest.raises(openai.RateLimitError) as refused:
        create(served_task)
    assert (refused.value.code, refused.value.type) == ("insufficient_quota", "insufficient_quota")
    assert "no room until" in refused.value.message
    assert served_task.post("/_count") == "1"


def test_what_is_not_heeded_is_the_packages_own_error(served_task):
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
    for param, value in (("tools", [tool]), ("n", 2), ("logprobs", True), ("temperature", 0)):
        with pytest.raises(openai.BadRequestError) as refused:
            create(served_task, **{param: value})
        assert refused.value.param == param
    with pytest.raises(openai.NotFoundError) as unknown:
        served_task.client.chat.completions.create(model="gpt-5", messages=MESSAGES)
    assert unknown.value.code == "model_not_found"
    with pytest.raises(openai.PermissionDeniedError):
        served_task.client.files.list()


def test_what_takes_longer_is_answered_when_the_package_asks_again(served_task):
    headers = {"Idempotency-Key": "k"}
    served_task.post("/_late")
    once = served_task.client.with_options(max_retries=0)
    with pytest.raises(openai.InternalServerError) as late:
        once.chat.completions.create(model=MODEL, messages=MESSAGES, extra_headers=headers)
    assert late.value.code == "run_goes_on"
    served_task.post("/_run")
    answer = create(served_task, extra_headers=headers)
    assert answer.choices[0].message.content == CONTENT
    assert served_task.post("/_count") == "2"


def test_without_a_key_it_is_not_asked_for_again(served_task):
    served_task.post("/_late")
    with pytest.raises(openai.InternalServerError) as late:
        create(served_task)
    assert late.value.code == "run_goes_on_alone"
    assert served_task.post("/_count") == "1"
    assert json.loads(late.value.response.text)["error"]["param"] is None
