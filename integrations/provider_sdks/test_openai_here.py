"""The openai package, unchanged: a whole batch through Autotune's own ``/v1``.

The handlers run in a process of the project's environment, above simulated AWS and a fake provider.
"""

import json
import time

import openai
import pytest


def line(custom_id, **body):
    asked = {"model": "small", "messages": [{"role": "user", "content": "q"}], "max_tokens": 9}
    return {
        "custom_id": custom_id,
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": {**asked, **body},
    }


def begin(served, *lines, **fields):
    content = "".join(json.dumps(one) + "\n" for one in lines).encode()
    file = served.client.files.create(file=("in.jsonl", content), purpose="batch")
    return served.client.batches.create(
        input_file_id=file.id,
        endpoint="/v1/chat/completions",
        completion_window="24h",
        **fields,
    )


def test_a_batch_from_upload_to_results(served):
    begun = begin(served, *(line(f"row {number}") for number in range(7)), metadata={"a": "b"})
    assert (begun.status, begun.metadata) == ("validating", {"a": "b"})
    served.post("/_run")
    found = served.client.batches.retrieve(begun.id)
    assert (found.status, found.request_counts.completed) == ("completed", 7)
    assert found.usage.total_tokens > 0
    text = served.client.files.content(found.output_file_id).text
    results = [json.loads(one) for one in text.splitlines()]
    assert [one["custom_id"] for one in results] == [f"row {number}" for number in range(7)]
    answers = [
        openai.types.chat.ChatCompletion.model_validate(one["response"]["body"], strict=True)
        for one in results
    ]
    assert all(answer.choices[0].message.content for answer in answers)
    assert [one.id for one in served.client.batches.list()] == [begun.id]
    listed = {one.id for one in served.client.files.list()}
    assert listed == {begun.input_file_id, found.output_file_id}
    assert served.client.files.delete(begun.input_file_id).deleted
    with pytest.raises(openai.NotFoundError):
        served.client.files.retrieve(begun.input_file_id)


def test_a_creation_whose_answer_is_lost_is_not_asked_twice(served):
    served.post("/_lose")
    began = time.monotonic()
    begun = begin(served, line("a"))
    assert time.monotonic() - began > 0.3, "the package tried again"
    assert [one.id for one in served.client.batches.list()] == [begun.id]


def test_wrong_lines_fail_the_batch_by_name(served):
    begun = begin(served, line("a"), line("b", max_tokens=0))
    served.post("/_run")
    found = served.client.batches.retrieve(begun.id)
    assert found.status == "failed"
    assert [(one.line, one.param) for one in found.errors.data] == [(2, "body.max_tokens")]


def test_a_batch_is_cancelled(served):
    begun = begin(served, line("a"))
    assert served.client.batches.cancel(begun.id).status == "cancelling"


def test_a_wrong_token_and_a_large_file_raise_the_packages_own_errors(served):
    with pytest.raises(openai.AuthenticationError):
        served.as_bearer_of("sk-wrong").files.list()
    with pytest.raises(openai.APIStatusError, match="llm-imports") as caught:
        served.client.files.create(file=("in.jsonl", b"x" * 4_000_001), purpose="batch")
    assert caught.value.status_code == 413
