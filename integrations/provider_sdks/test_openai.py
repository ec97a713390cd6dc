"""The openai package, unchanged: OpenAI, Azure OpenAI, and a server of one's own."""

import io
import json

import openai
import pytest

from integrations.provider_sdks.conftest import QUESTIONS


def lines_of(model, url="/v1/chat/completions"):
    for number, text in enumerate(QUESTIONS):
        body = {
            "model": model,
            "messages": [{"role": "user", "content": text}],
            "max_completion_tokens": 200,
        }
        yield {"custom_id": f"row{number}", "method": "POST", "url": url, "body": body}


def input_file(model):
    content = "".join(json.dumps(line) + "\n" for line in lines_of(model))
    return io.BytesIO(content.encode())


@pytest.fixture(params=["openai", "azure"])
def client(request, fake):
    if request.param == "openai":
        return openai.OpenAI(base_url=f"{fake.url}/v1", api_key="fake-key", max_retries=0)
    return openai.AzureOpenAI(
        azure_endpoint=fake.url, api_version="2025-04-01-preview", api_key="fake-key", max_retries=0
    )


def provider_of(client):
    return "azure" if isinstance(client, openai.AzureOpenAI) else "openai"


def start(client):
    uploaded = client.files.create(file=("in.jsonl", input_file("gpt-5-mini")), purpose="batch")
    return client.batches.create(
        input_file_id=uploaded.id,
        endpoint="/v1/chat/completions",
        completion_window="24h",
        metadata={"nonce": "n1"},
    )


def test_a_batch_from_upload_to_results(client, fake, token_in):
    batch = start(client)
    assert batch.status == "validating"
    assert [one.metadata for one in client.batches.list(limit=1)] == [{"nonce": "n1"}]
    fake.advance(30)
    assert client.batches.retrieve(batch.id).status == "in_progress"
    fake.advance()
    batch = client.batches.retrieve(batch.id)
    assert (batch.status, batch.request_counts.completed) == ("completed", 5)
    output = client.files.content(batch.output_file_id).text.splitlines()
    bodies = [json.loads(line)["response"]["body"] for line in output]
    completions = [openai.types.chat.ChatCompletion.model_validate(body) for body in bodies]
    tokens = {token_in(one.choices[0].message.content) for one in completions}
    assert tokens == fake.paid(provider_of(client))
    assert batch.usage.output_tokens == sum(one.usage.completion_tokens for one in completions)
    assert client.files.delete(batch.input_file_id).deleted


def test_a_batch_that_is_canceled(client, fake):
    batch = start(client)
    fake.advance(25)
    assert client.batches.cancel(batch.id).status == "cancelling"
    fake.advance(10)
    batch = client.batches.retrieve(batch.id)
    assert batch.status == "cancelled"
    done = client.files.content(batch.output_file_id).text.splitlines()
    left = client.files.content(batch.error_file_id).text.splitlines()
    assert (len(done), len(left)) == (2, 3)
    assert len(fake.paid(provider_of(client))) == 2


def test_rows_that_fail(client, fake, token_in):
    fake.arm("row_error", rows=[0], params={"status": 500})
    fake.arm("row_error", rows=[1], params={"status": 400})
    batch = start(client)
    fake.advance()
    batch = client.batches.retrieve(batch.id)
    counts = batch.request_counts
    assert (batch.status, counts.completed, counts.failed) == ("completed", 3, 2)
    errors = [json.loads(line) for line in client.files.content(batch.error_file_id).iter_lines()]
    told = {one["custom_id"]: one["response"]["status_code"] for one in errors}
    assert told == {"row0": 500, "row1": 400}
    done = [json.loads(line) for line in client.files.content(batch.output_file_id).iter_lines()]
    texts = [one["response"]["body"]["choices"][0]["message"]["content"] for one in done]
    assert {token_in(text) for text in texts} == fake.paid(provider_of(client))


def test_a_batch_that_fails_names_the_line(client, fake):
    fake.arm("poison_row", rows=[2])
    batch = start(client)
    fake.advance()
    batch = client.batches.retrieve(batch.id)
    assert (batch.status, batch.output_file_id, batch.error_file_id) == ("failed", None, None)
    assert [(one.line, one.code) for one in batch.errors.data] == [(3, "invalid_request")]
    assert fake.paid(provider_of(client)) == set()


def test_a_batch_that_expires_has_what_was_done(client, fake):
    fake.arm("expires_partial")
    batch = start(client)
    fake.advance()
    batch = client.batches.retrieve(batch.id)
    assert batch.status == "expired"
    left = client.files.content(batch.error_file_id).text.splitlines()
    assert {json.loads(line)["error"]["code"] for line in left} == {"batch_expired"}
    done = client.files.content(batch.output_file_id).text.splitlines()
    assert (len(done), len(left)) == (2, 3)


def test_all_batches_are_found_page_by_page(client):
    made = [start(client).id for _ in range(3)]
    assert [one.id for one in client.batches.list(limit=1)] == made[::-1]


def test_a_call(client, fake, token_in):
    completion = client.chat.completions.create(
        model="gpt-5-mini", messages=[{"role": "user", "content": "Right?"}], max_tokens=99
    )
    assert {token_in(completion.choices[0].message.content)} == fake.paid(provider_of(client))


def test_errors_are_those_that_the_package_knows(client, fake):
    question = {"messages": [{"role": "user", "content": "Right?"}]}
    with pytest.raises(openai.NotFoundError):
        client.chat.completions.create(model="no-such-model", **question)
    with pytest.raises(openai.AuthenticationError):
        client.with_options(api_key="wrong").batches.list()
    with pytest.raises(openai.BadRequestError):
        client.chat.completions.create(
            model="gpt-5-mini", extra_body={"no_such_field": 1}, **question
        )
    fake.arm("chat_429", params={"retry_after": 3})
    with pytest.raises(openai.RateLimitError) as limited:
        client.chat.completions.create(model="gpt-5-mini", **question)
    assert limited.value.response.headers["retry-after"] == "3"
    fake.arm("chat_500", params={"status": 503})
    with pytest.raises(openai.InternalServerError):
        client.chat.completions.create(model="gpt-5-mini", **question)
    assert fake.paid(provider_of(client)) == set()


def test_an_answer_that_is_lost_was_paid(client, fake):
    fake.arm("create_answer_lost")
    with pytest.raises(openai.APIConnectionError):
        start(client)
    (batch,) = client.batches.list()
    assert batch.metadata == {"nonce": "n1"}


def test_a_server_of_ones_own(fake, token_in):
    client = openai.OpenAI(base_url=f"{fake.url}/vllm/v1", api_key="none-needed", max_retries=0)
    assert "local-model" in [one.id for one in client.models.list()]
    completion = client.chat.completions.create(
        model="local-reasoner", messages=[{"role": "user", "content": "Right?"}]
    )
    assert completion.choices[0].message.reasoning_content
    assert {token_in(completion.choices[0].message.content)} == fake.paid("compatible")
    fake.call("POST", "/keys", {"provider": "compatible", "add": {"another": "main"}})
    with pytest.raises(openai.AuthenticationError):
        client.models.list()
