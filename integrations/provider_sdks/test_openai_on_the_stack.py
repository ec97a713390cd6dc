"""The openai package, unchanged: whole batches through ``/v1`` of the running stack."""

import json
import os
import time

import openai
import pytest

MODEL = "gpt-5-mini"
SECONDS = 180
ENDPOINT = "/v1/chat/completions"


@pytest.fixture
def connect(client, running_fake):
    """Makes a connection to the fake, as OpenAI, and the openai package with a token of it."""
    made = []

    def connect(**fields):
        connection = client.llm.connections.create(
            name="fake",
            provider="openai",
            base_url=f"{running_fake.url}/v1",
            api_key="fake-key",
            batches="always",
            **fields,
        )
        token = client.llm.tokens.create(name="openai package", connection_id=connection.id)
        made.append((connection.id, token.llm_token.id))
        base_url = f"{os.environ['AUTOTUNE_BASE_URL']}/v1"
        return connection.id, openai.OpenAI(base_url=base_url, api_key=token.secret)

    yield connect
    for connection_id, token_id in made:
        client.llm.tokens.revoke(token_id)
        client.llm.connections.revoke(connection_id)


def begin(package, count, **body):
    lines = [
        {
            "custom_id": f"row {number}",
            "method": "POST",
            "url": ENDPOINT,
            "body": {
                "model": MODEL,
                "messages": [{"role": "user", "content": f"Is claim {number} right? \u00e9\u4e16"}],
                "max_completion_tokens": 200,
                **body,
            },
        }
        for number in range(count)
    ]
    content = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in lines).encode()
    file = package.files.create(file=("in.jsonl", content), purpose="batch")
    assert (file.bytes, file.status) == (len(content), "processed")
    assert package.files.content(file.id).content == content
    return package.batches.create(
        input_file_id=file.id,
        endpoint=ENDPOINT,
        completion_window="24h",
        metadata={"run": "7"},
    )


def awaited(package, batch_id, *statuses):
    """Polls a batch until it has one of these statuses."""
    deadline = time.monotonic() + SECONDS
    while (found := package.batches.retrieve(batch_id)).status not in statuses:
        assert time.monotonic() < deadline, found
        time.sleep(1)
    return found


def test_a_batch_from_upload_to_results(client, connect, running_fake, token_in):
    connection_id, package = connect(min_rows=20)
    begun = begin(package, 20)
    assert begun.status in ("validating", "in_progress")
    done = awaited(package, begun.id, "completed", "failed", "expired", "cancelled")
    counts = done.request_counts
    assert (done.status, counts.total, counts.completed, counts.failed) == ("completed", 20, 20, 0)
    assert (done.metadata, done.errors, done.error_file_id) == ({"run": "7"}, None, None)
    results = [json.loads(one) for one in package.files.content(done.output_file_id).iter_lines()]
    assert [one["custom_id"] for one in results] == [f"row {number}" for number in range(20)]
    answers = [
        openai.types.chat.ChatCompletion.model_validate(one["response"]["body"], strict=True)
        for one in results
    ]
    tokens = {token_in(one.choices[0].message.content) for one in answers}
    assert tokens == running_fake.paid("openai")
    assert len(tokens) == 20
    assert done.usage.output_tokens == sum(one.usage.completion_tokens for one in answers)
    # The ledger has the same rows, at the price of the one job that the provider had.
    asked = list(client.llm.list(connection_id=connection_id))
    assert {one.purpose for one in asked} == {"openai_batch"}
    bill = running_fake.call("GET", "/bill")
    assert sum(one.cost_nano_usd for one in asked) == bill["total_nano_usd"]
    assert len(running_fake.call("GET", "/batches")["batches"]) == 1
    assert [one.id for one in package.batches.list()] == [begun.id]
    listed = {one.id for one in package.files.list()}
    assert listed == {begun.input_file_id, done.output_file_id}
    assert package.files.delete(begun.input_file_id).deleted
    with pytest.raises(openai.NotFoundError):
        package.files.retrieve(begun.input_file_id)


def test_a_batch_that_is_cancelled_asks_nothing(connect, running_fake):
    _, package = connect(min_rows=20, max_wait_seconds=3_600)
    begun = begin(package, 5)
    # Its rows are too few for a job, and wait for others.
    awaited(package, begun.id, "in_progress")
    assert package.batches.cancel(begun.id).status in ("cancelling", "cancelled")
    found = awaited(package, begun.id, "cancelled")
    counts = found.request_counts
    assert (counts.total, counts.completed, counts.failed) == (5, 0, 5)
    left = [json.loads(one) for one in package.files.content(found.error_file_id).iter_lines()]
    assert {one["error"]["code"] for one in left} == {"batch_cancelled"}
    assert running_fake.paid("openai") == set()


def test_a_wrong_line_fails_a_batch_and_what_is_refused_raises_the_packages_errors(
    client, connect, running_fake
):
    connection_id, package = connect(min_rows=20)
    failed = awaited(package, begin(package, 2, max_completion_tokens=0).id, "failed")
    told = [(one.line, one.param) for one in failed.errors.data]
    assert told == [(number, "body.max_completion_tokens") for number in (1, 2)]
    with pytest.raises(openai.APIStatusError, match="llm-imports") as too_large:
        package.files.create(file=("in.jsonl", b"x" * 4_000_001), purpose="batch")
    assert too_large.value.status_code == 413
    token = client.llm.tokens.create(name="ends", connection_id=connection_id)
    bearer = package.with_options(api_key=token.secret)
    assert [one.id for one in bearer.batches.list()] == [failed.id]
    client.llm.tokens.revoke(token.llm_token.id)
    with pytest.raises(openai.AuthenticationError):
        bearer.batches.list()
    assert running_fake.paid("openai") == set()


def test_chat_completions_are_answered_and_captured(client, connect, running_fake):
    connection_id, package = connect()
    prompt = f"You answer customers of {connection_id}."
    deck = client.decks.create(name="customers", system_prompt=prompt)
    before = client.decks.capture.get()
    client.decks.capture.set(enabled=True, redactions=[r"\d{4}"], metadata_names=["team"])
    messages = [{"role": "system", "content": prompt}, {"role": "user", "content": "pin 1234?"}]
    headers = {"X-Autotune-Labels": json.dumps({"team": "a"})}
    try:
        deadline = time.monotonic() + SECONDS
        # Settings hold for calls a minute later, in a function that has read others before.
        while not (found := list(client.decks.samples.list(deck.id))):
            assert time.monotonic() < deadline
            answer = package.chat.completions.create(
                model=f"{connection_id}/{MODEL}", messages=messages, extra_headers=headers
            )
            assert answer.usage.completion_tokens > 0
            time.sleep(2)
    finally:
        client.decks.capture.set(enabled=before.enabled)
    sample = client.decks.samples.get(deck.id, found[0].id)
    assert sample.request["messages"][1]["content"] == "pin [redacted]?"
    assert (sample.collection, sample.metadata) == ("telemetry", {"team": "a"})
    chunks = list(
        package.chat.completions.create(
            model=f"{connection_id}/{MODEL}",
            messages=messages,
            stream=True,
            stream_options={"include_usage": True},
        )
    )
    assert chunks[-1].usage.total_tokens > 0
    rows = list(client.llm.list(connection_id=connection_id))
    assert {one.purpose for one in rows} == {"conversation"}
    bill = running_fake.call("GET", "/bill")
    assert sum(one.cost_nano_usd for one in rows) == bill["total_nano_usd"]


TASK = {
    "description": "Tells what a customer wants.",
    "inputSchema": {
        "type": "object",
        "properties": {"text": {"type": "string"}, "language": {"type": "string"}},
        "required": ["text"],
    },
    "outputSchema": {
        "type": "object",
        "properties": {"intent": {"type": "string"}},
        "required": ["intent"],
        "additionalProperties": False,
    },
    "systemPrompt": "You tell intents apart.",
    "promptTemplate": "What does the customer want? {{text}} ({{language}})",
    "training": {"backend": "linear", "fineTuneBatchSize": 50},
    "local": {"backend": "linear"},
    "evaluator": {"type": "structured_match", "matchFields": ["intent"]},
    "thresholds": {
        "phase1ToPhase2": 50,
        "phase2ToPhase3": 0.9,
        "coachingTrigger": 0.8,
        "emergencyThreshold": 0.6,
    },
    "sampling": {"decay": "exponential"},
}


def test_a_task_answers_chat_completions(client, connect, running_fake, request):
    connection_id, package = connect()
    name = f"intents_{os.getpid()}"
    primary = {"connectionId": connection_id, "model": MODEL, "maxOutputTokens": 300}
    task = {**TASK, "remote": {"primary": primary}, "budgets": {"daily": "10"}}
    client.apprentice_tasks.put(name, configuration=task)
    request.addfinalizer(lambda: client.apprentice_tasks.delete(name))
    token = client.llm.tokens.create(name="task", apprentice_task=name)
    bearer = package.with_options(api_key=token.secret)
    assert [one.id for one in bearer.models.list()] == [f"apprentice/{name}"]

    def ask(key, **fields):
        return bearer.chat.completions.create(
            model=f"apprentice/{name}",
            messages=[{"role": "user", "content": json.dumps({"text": key, "language": "en"})}],
            extra_headers={"Idempotency-Key": key},
            **fields,
        )

    answer, again = ask("first"), ask("first")
    assert json.loads(answer.choices[0].message.content)["intent"]
    assert (again.id, again.choices) == (answer.id, answer.choices)
    chunks = list(ask("second", stream=True, stream_options={"include_usage": True}))
    assert chunks[-1].usage.completion_tokens > 0
    with pytest.raises(openai.BadRequestError) as refused:
        ask("third", temperature=0.1)
    assert refused.value.param == "temperature"
    rows = list(client.llm.list(connection_id=connection_id))
    assert [one.purpose for one in rows] == ["apprentice"] * 2
    bill = running_fake.call("GET", "/bill")
    assert sum(one.cost_nano_usd for one in rows) == bill["total_nano_usd"] > 0
    client.llm.tokens.revoke(token.llm_token.id)
    with pytest.raises(openai.AuthenticationError):
        bearer.models.list()
