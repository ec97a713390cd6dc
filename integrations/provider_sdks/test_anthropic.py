"""The anthropic package, unchanged."""

import anthropic
import pytest

from integrations.provider_sdks.conftest import QUESTIONS

MODEL = "claude-haiku-4-5"


@pytest.fixture
def client(fake):
    return anthropic.Anthropic(base_url=fake.url, api_key="fake-key", max_retries=0)


def params(text):
    return {"model": MODEL, "max_tokens": 200, "messages": [{"role": "user", "content": text}]}


def start(client):
    return client.messages.batches.create(
        requests=[
            {"custom_id": f"row{number}", "params": params(text)}
            for number, text in enumerate(QUESTIONS)
        ]
    )


def test_a_batch_from_creation_to_results(client, fake, token_in):
    batch = start(client)
    assert (batch.processing_status, batch.request_counts.processing) == ("in_progress", 5)
    fake.advance(30)
    assert client.messages.batches.retrieve(batch.id).results_url is None
    fake.advance()
    batch = client.messages.batches.retrieve(batch.id)
    assert (batch.processing_status, batch.request_counts.succeeded) == ("ended", 5)
    results = list(client.messages.batches.results(batch.id))
    assert {one.result.type for one in results} == {"succeeded"}
    tokens = {token_in(one.result.message.content[0].text) for one in results}
    assert tokens == fake.paid("anthropic")
    assert sorted(one.custom_id for one in results) == [f"row{number}" for number in range(5)]
    assert client.messages.batches.delete(batch.id).type == "message_batch_deleted"


def test_a_batch_that_is_canceled(client, fake):
    batch = start(client)
    fake.advance(25)
    assert client.messages.batches.cancel(batch.id).processing_status == "canceling"
    fake.advance(10)
    kinds = [one.result.type for one in client.messages.batches.results(batch.id)]
    assert sorted(kinds) == ["canceled"] * 3 + ["succeeded"] * 2


def test_rows_that_fail(client, fake):
    fake.arm("row_error", rows=[0], params={"status": 529})
    fake.arm("finish_refusal", rows=[1])
    batch = start(client)
    fake.advance()
    results = {one.custom_id: one.result for one in client.messages.batches.results(batch.id)}
    assert results["row0"].error.error.type == "overloaded_error"
    assert results["row1"].message.stop_reason == "refusal"


def test_a_batch_that_expires_says_so_of_each_row(client, fake):
    fake.arm("expires_partial")
    batch = start(client)
    fake.advance()
    counts = client.messages.batches.retrieve(batch.id).request_counts
    assert (counts.succeeded, counts.expired) == (2, 3)
    kinds = [one.result.type for one in client.messages.batches.results(batch.id)]
    assert sorted(kinds) == ["expired"] * 3 + ["succeeded"] * 2


def test_all_batches_are_found_page_by_page(client):
    made = [start(client).id for _ in range(3)]
    assert [one.id for one in client.messages.batches.list(limit=1)] == made[::-1]


def test_a_call_and_its_errors(client, fake, token_in):
    message = client.messages.create(**params("Right?"))
    assert {token_in(message.content[0].text)} == fake.paid("anthropic")
    with pytest.raises(anthropic.NotFoundError):
        client.messages.create(**{**params("Right?"), "model": "no-such-model"})
    with pytest.raises(anthropic.AuthenticationError):
        client.with_options(api_key="wrong").messages.create(**params("Right?"))
    with pytest.raises(anthropic.BadRequestError):
        client.messages.create(**{**params("Right?"), "max_tokens": 0})
    fake.arm("chat_429")
    with pytest.raises(anthropic.RateLimitError):
        client.messages.create(**params("Right?"))
