"""The google-genai package, unchanged."""

import io
import json

import pytest
from google import genai
from google.genai import errors, types

from integrations.provider_sdks.conftest import QUESTIONS

MODEL = "gemini-2.5-flash"


@pytest.fixture
def client(fake):
    options = types.HttpOptions(base_url=fake.url, retry_options=types.HttpRetryOptions(attempts=1))
    return genai.Client(api_key="fake-key", http_options=options)


def file_of_requests():
    lines = [
        {
            "key": f"row{number}",
            "request": {
                "contents": [{"role": "user", "parts": [{"text": text}]}],
                "generationConfig": {"maxOutputTokens": 200},
            },
        }
        for number, text in enumerate(QUESTIONS)
    ]
    return io.BytesIO("".join(json.dumps(line) + "\n" for line in lines).encode())


def inline_requests():
    return [
        {
            "contents": [{"role": "user", "parts": [{"text": text}]}],
            "metadata": {"key": f"row{number}"},
            "config": {"max_output_tokens": 200, "system_instruction": "Be brief."},
        }
        for number, text in enumerate(QUESTIONS)
    ]


def test_a_batch_from_a_file(client, fake, token_in):
    uploaded = client.files.upload(
        file=file_of_requests(), config={"display_name": "in", "mime_type": "application/jsonl"}
    )
    job = client.batches.create(model=MODEL, src=uploaded.name, config={"display_name": "nonce-1"})
    assert job.state.name == "JOB_STATE_PENDING"
    fake.advance(30)
    assert client.batches.get(name=job.name).state.name == "JOB_STATE_RUNNING"
    fake.advance()
    job = client.batches.get(name=job.name)
    assert (job.state.name, job.display_name) == ("JOB_STATE_SUCCEEDED", "nonce-1")
    content = client.files.download(file=job.dest.file_name).decode()
    lines = [json.loads(line) for line in content.splitlines()]
    assert [line["key"] for line in lines] == [f"row{number}" for number in range(5)]
    answers = [types.GenerateContentResponse.model_validate(line["response"]) for line in lines]
    assert {token_in(one.text) for one in answers} == fake.paid("gemini")


def test_a_batch_of_inline_requests(client, fake, token_in):
    job = client.batches.create(
        model=MODEL, src=inline_requests(), config={"display_name": "nonce-2"}
    )
    fake.advance()
    job = client.batches.get(name=job.name)
    responses = job.dest.inlined_responses
    assert [one.metadata["key"] for one in responses] == [f"row{number}" for number in range(5)]
    assert {token_in(one.response.text) for one in responses} == fake.paid("gemini")
    client.batches.delete(name=job.name)
    assert list(client.batches.list()) == []


def test_a_batch_that_is_canceled_has_no_results(client, fake):
    job = client.batches.create(model=MODEL, src=inline_requests())
    fake.advance(25)
    client.batches.cancel(name=job.name)
    fake.advance(10)
    job = client.batches.get(name=job.name)
    assert (job.state.name, job.dest) == ("JOB_STATE_CANCELLED", None)
    assert fake.paid("gemini") == set()


def test_rows_that_fail(client, fake, token_in):
    fake.arm("row_error", rows=[0], params={"status": 500})
    job = client.batches.create(model=MODEL, src=inline_requests())
    fake.advance()
    job = client.batches.get(name=job.name)
    assert job.state.name == "JOB_STATE_SUCCEEDED"
    first, *others = job.dest.inlined_responses
    assert (first.response, first.error.code) == (None, 13)
    assert {token_in(one.response.text) for one in others} == fake.paid("gemini")


def test_a_file_that_cannot_be_read_fails_the_job(client, fake):
    uploaded = client.files.upload(
        file=io.BytesIO(b"no request\n"), config={"mime_type": "application/jsonl"}
    )
    job = client.batches.create(model=MODEL, src=uploaded.name)
    fake.advance()
    job = client.batches.get(name=job.name)
    assert (job.state.name, job.dest) == ("JOB_STATE_FAILED", None)
    assert fake.paid("gemini") == set()


def test_a_job_that_expires_has_no_results(client, fake):
    fake.arm("expires_empty")
    job = client.batches.create(model=MODEL, src=inline_requests())
    fake.advance()
    job = client.batches.get(name=job.name)
    assert (job.state.name, job.dest) == ("JOB_STATE_EXPIRED", None)


def test_all_jobs_are_found_page_by_page(client):
    made = [client.batches.create(model=MODEL, src=inline_requests()).name for _ in range(3)]
    assert [one.name for one in client.batches.list(config={"page_size": 1})] == made[::-1]


def test_a_call_and_its_errors(client, fake, token_in):
    answer = client.models.generate_content(model=MODEL, contents="Right?")
    assert {token_in(answer.text)} == fake.paid("gemini")
    assert answer.usage_metadata.thoughts_token_count > 0
    with pytest.raises(errors.ClientError) as missing:
        client.models.generate_content(model="no-such-model", contents="Right?")
    assert (missing.value.code, missing.value.status) == (404, "NOT_FOUND")
    fake.arm("chat_500", params={"status": 503})
    with pytest.raises(errors.ServerError) as broken:
        client.models.generate_content(model=MODEL, contents="Right?")
    assert broken.value.status == "UNAVAILABLE"
