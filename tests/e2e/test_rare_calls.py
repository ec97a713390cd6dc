"""Calls that no other end-to-end test makes: what they need is granted, and seen in use."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from autotune import AutotuneClient
from local.endpoint import lambda_client
from local.records import LocalProfile
from tests.e2e.conftest import CommandLine, until, verified
from tests.support.embeddings import written
from tests.support.graders import LoopbackGrader, answering, loopback_grader

PATIENCE = 60
# Random, so that packing does not make it small enough for an item of the table.
LARGE = secrets.token_hex(400_000)


@pytest.fixture
def grader() -> Iterator[LoopbackGrader]:
    with loopback_grader() as made:
        yield made


def test_what_is_made_is_listed_changed_and_deleted(client: AutotuneClient) -> None:
    key = client.keys.create(name="short-lived", role="reviewer").key
    assert key.id in [one.id for one in client.keys.list()]
    assert client.keys.revoke(key.id).status == "revoked"
    session = client.sessions.create(name="short-lived").session
    assert session.id in [one.id for one in client.sessions.list()]
    assert client.sessions.revoke(session.id).status == "revoked"

    grader_id = client.graders.register(name="short-lived", kind="human").grader.id
    task_id = client.tasks.create(name="short-lived", grader_id=grader_id).id
    client.tasks.delete(task_id)
    client.graders.delete(grader_id)
    assert grader_id not in [one.id for one in client.graders.list()]

    webhook = client.webhooks.create(url="http://127.0.0.1:9/hook", event_types=["score.completed"])
    client.webhooks.update(webhook.webhook.id, status="disabled")
    client.webhooks.delete(webhook.webhook.id)
    assert all(export.state for export in client.exports.list())


def test_a_large_text_is_read_wherever_texts_are(
    client: AutotuneClient, grader: LoopbackGrader
) -> None:
    task_id = client.tasks.create(name="large", grader_id=verified(client, grader)).id
    submitted = client.completions.submit(
        task_id=task_id, model_id="m", prompt="p", response=LARGE, priority="high"
    )
    scored = client.completions.wait_for_score(submitted.completion.id, timeout=PATIENCE)
    assert scored.state == "scored"
    assert client.completions.get(submitted.completion.id).response == LARGE
    (listed,) = client.scores.list(task_id=task_id, include_completion=True)
    assert listed.completion is not None
    assert LARGE.encode() in client.scores.export(format="jsonl", task_id=task_id)
    assert LARGE.encode() not in client.scores.export(format="jsonl", model_id="no-such-model")
    export = client.exports.create(format="jsonl", model_id="m")
    assert client.exports.wait_for(export.id, timeout=PATIENCE).state == "completed"
    again = client.completions.rescore(task_id=task_id, states=["scored"])
    assert again.rescored == 1


def test_a_large_text_is_read_by_people(client: AutotuneClient) -> None:
    people = client.graders.register(name="people", kind="human").grader.id
    task_id = client.tasks.create(name="large", grader_id=people).id
    submitted = client.completions.submit(
        task_id=task_id, model_id="m", prompt="p", response=LARGE, priority="low"
    )

    def opened() -> str | None:
        reviews = [one for one in client.reviews.list() if one.task_id == task_id]
        return reviews[0].id if reviews else None

    review = client.reviews.get(until(opened, seconds=PATIENCE))
    assert review.response == LARGE
    client.reviews.answer(review.id, value=1)  # others find no open review
    assert client.completions.wait_for_score(submitted.completion.id, timeout=PATIENCE)


def test_a_run_is_canceled(client: AutotuneClient, grader: LoopbackGrader) -> None:
    grader_id = verified(client, grader)
    task_id = client.tasks.create(name="slow", grader_id=grader_id).id
    grader.disease = answering(status=503)
    submitted = client.completions.submit(task_id=task_id, model_id="m", prompt="p", response="r")

    def sleeping() -> str | None:
        runs = list(client.runs.list(grader_id=grader_id, state="sleeping"))
        return runs[0].id if runs else None

    run_id = until(sleeping, seconds=PATIENCE)
    client.runs.cancel(run_id)
    verdict = client.completions.wait_for_score(submitted.completion.id, timeout=PATIENCE)
    assert verdict.state == "canceled"


def test_dead_letters_are_moved_by_an_operator(profile: LocalProfile) -> None:
    functions = lambda_client(profile.aws_endpoint_url)
    pages = functions.get_paginator("list_functions").paginate()
    names = [one["FunctionName"] for page in pages for one in page["Functions"]]
    (redrive,) = [name for name in names if "RedriveDeadLetters" in name]
    answer = functions.invoke(FunctionName=redrive)
    assert "FunctionError" not in answer, answer["Payload"].read()


def test_an_embedding_model_is_stored_by_an_operator(
    command_line: CommandLine, tmp_path: Path
) -> None:
    folder = str(written(tmp_path / "words"))
    stored = command_line.read("ops", "embeddings", "put", "words", folder)
    listed = command_line.read("ops", "embeddings", "list")
    assert listed["embeddingModel"] == stored["embeddingModel"]
