"""Sick graders on the real way: no score from a failure, no completion lost, no verdict twice."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import boto3
import pytest

from autotune import AutotuneClient
from local.endpoint import REGION
from local.records import LocalProfile
from tests.e2e.conftest import CommandLine, verified
from tests.support.graders import (
    Disease,
    Exchange,
    LoopbackGrader,
    answering,
    healthy,
    loopback_grader,
    scoring,
)


def half(exchange: Exchange) -> None:
    del exchange.answer["scores"][1::2]


DISEASES: dict[str, tuple[Disease, set[str]]] = {
    "answers 500": (answering(status=500), {"deadline_exceeded"}),
    "garbage": (answering(body=b"<html>"), {"response_malformed"}),
    "NaN": (scoring(float("nan")), {"item_malformed"}),
    "a value of 1.2": (scoring(1.2), {"item_malformed"}),
    "a wrong signature": (answering(secret="wrong"), {"response_signature_invalid"}),
    "another request's answer": (
        answering(signed_request_body=b"another"),
        {"response_signature_invalid"},
    ),
    "half a batch": (half, {"item_missing"}),
}


@pytest.fixture(scope="module", autouse=True)
def sick(profile: LocalProfile) -> Iterator[dict[str, str]]:
    """A grader for each disease, and the batch that it was given before the first test.

    Some are asked for a minute, in which other tests run.
    """
    with (
        AutotuneClient(base_url=profile.base_url, api_key=profile.api_key) as client,
        ExitStack() as running,
    ):
        batches = {}
        for name, (disease, reasons) in DISEASES.items():
            grader = running.enter_context(loopback_grader())
            # What passes is waited for until the deadline; a slow machine is to miss no other.
            deadline = {"deadline_seconds": 60} if "deadline_exceeded" in reasons else {}
            task = client.tasks.create(
                name=name, grader_id=verified(client, grader, maxBatchSize=10), **deadline
            )
            grader.disease = disease
            completions = [
                {"taskId": task.id, "modelId": "m", "prompt": str(n), "response": "r"}
                for n in range(10)
            ]
            (batch,) = client.completions.submit_many(completions)
            batches[name] = batch.batch_id
        yield batches


def test_a_grader_that_recovers_is_asked_again(client: AutotuneClient) -> None:
    with loopback_grader() as grader:
        task = client.tasks.create(name="recovers", grader_id=verified(client, grader))

        def ill_at_first(exchange: Exchange) -> None:
            if len(grader.requests) < 4:
                exchange.status = 503

        grader.disease = ill_at_first
        submitted = client.completions.submit(
            task_id=task.id, model_id="m", prompt="p", response="r"
        )
        verdict = client.completions.wait_for_score(submitted.completion.id, timeout=180)
    assert (verdict.state, verdict.attempts) == ("scored", 4)


def test_what_failed_is_scored_again_once_its_grader_is_mended(
    client: AutotuneClient, command_line: CommandLine, grader_and_task: tuple[LoopbackGrader, str]
) -> None:
    grader, task_id = grader_and_task
    grader.disease = scoring(1.2)
    (accepted,) = client.completions.submit_many(
        {"taskId": task_id, "modelId": "m", "prompt": str(n), "response": "r"} for n in range(5)
    )
    before = client.batches.wait(accepted.batch_id, timeout=180)
    assert before.counts.failed == 5
    grader.disease = healthy
    done = command_line.run("rescore", "--batch", accepted.batch_id, "--wait")
    assert "5 are scored again; 0 failed" in done.stdout
    after = client.batches.get(accepted.batch_id)
    assert (after.generation, after.counts.scored) == (1, 5)
    first = client.completions.verdict(accepted.completion_ids[0], generation=0)
    assert (first.state, first.reason_code) == ("failed", "item_malformed")
    scores = list(client.scores.list(task_id=task_id))
    assert [(one.state, one.generation) for one in scores] == [("scored", 1)] * 5


def test_what_is_delivered_twice_is_scored_once(
    client: AutotuneClient, profile: LocalProfile, grader_and_task: tuple[LoopbackGrader, str]
) -> None:
    grader, task_id = grader_and_task
    completions = [
        {"taskId": task_id, "modelId": "m", "prompt": str(n), "response": "r"} for n in range(5)
    ]
    (accepted,) = client.completions.submit_many(completions)
    before = client.batches.wait(accepted.batch_id, timeout=180)
    asked = len(grader.requests)

    session = boto3.Session("test", "test", region_name=REGION)
    sqs = session.client("sqs", endpoint_url=profile.aws_endpoint_url)
    normal = next(
        url for url in sqs.list_queues()["QueueUrls"] if "ormal" in url and "ead" not in url
    )
    task = client.tasks.get(task_id)
    grader_version = client.graders.get(task.grader_id).version
    for ids in (accepted.completion_ids, accepted.completion_ids[:3]):
        chunk = {
            "organization_id": profile.organization_id,
            "grader_id": task.grader_id,
            "grader_version": grader_version,
            "completion_ids": ids,
            "text_bytes": 10,
        }
        sqs.send_message(QueueUrl=normal, MessageBody=json.dumps(chunk))
    (marker,) = client.completions.submit_many([{**completions[0], "prompt": "after them"}])
    client.batches.wait(marker.batch_id, timeout=180)

    assert client.batches.get(accepted.batch_id) == before
    assert len(grader.requests) == asked + 1


def test_sick_graders_give_no_score_and_lose_nothing(
    client: AutotuneClient, sick: dict[str, str]
) -> None:
    for name, batch_id in sick.items():
        batch = client.batches.wait(batch_id, timeout=180)
        failed = [verdict for verdict in batch.verdicts if verdict.state == "failed"]
        scored = [verdict for verdict in batch.verdicts if verdict.state == "scored"]
        assert {verdict.reason_code for verdict in failed} == DISEASES[name][1], name
        assert len(scored) == (5 if name == "half a batch" else 0), name
        assert len(failed) + len(scored) == batch.counts.expected == 10, name
        assert all(verdict.score is None for verdict in failed), name


@pytest.fixture
def grader_and_task(client: AutotuneClient) -> Any:
    with loopback_grader() as grader:
        grader_id = verified(client, grader, maxBatchSize=5)
        yield grader, client.tasks.create(name="twice", grader_id=grader_id).id
