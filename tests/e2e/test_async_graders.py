"""Graders that answer later, on the real way: well, late, twice, wrongly signed, and never."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import boto3
import httpx
import pytest

from autotune import AutotuneClient
from autotune.protocol.runs import RunState
from local.endpoint import REGION
from local.records import LocalProfile
from tests.e2e.conftest import CommandLine, until, verified
from tests.e2e.due import make_due
from tests.support.graders import Callback, LoopbackGrader, deferring, loopback_grader

PATIENCE = 180


@dataclass
class Deferred:
    """A batch of three whose grader has promised to answer later."""

    client: AutotuneClient
    grader: LoopbackGrader
    grader_id: str
    batch_id: str
    run_id: str

    @property
    def states(self) -> list[tuple[str, str | None]]:
        verdicts = self.client.batches.wait(self.batch_id, timeout=PATIENCE).verdicts
        return [(verdict.state, verdict.reason_code) for verdict in verdicts]

    @property
    def call_id(self) -> str:
        url: str = self.grader.requests[-1][1]["callbackUrl"]
        return url.rpartition("/")[2]

    def wait_for_run(self, state: RunState) -> None:
        """Wait until the run is in a state, as it is stored: a list ends no run."""
        until(
            lambda: self.run_id in [run.id for run in self.client.runs.list(state=state)],
            seconds=PATIENCE,
            pause=0.1,
        )


def send(callback: Callback) -> int:
    """Call back, signed by no key; return the status."""
    headers = {"content-type": "application/json", **callback.headers}
    with httpx.Client(trust_env=False, timeout=60) as http:
        return http.post(callback.url, content=callback.body, headers=headers).status_code


def run_of(client: AutotuneClient, grader_id: str) -> str:
    """Return the run of a grader that has only one, once it waits."""

    def waiting() -> str | None:
        for run in client.runs.list(state="waiting"):
            if run.grader_id == grader_id and run.step == "wait_for_callback":
                return run.id
        return None

    return until(waiting, seconds=PATIENCE, pause=0.1)


@pytest.fixture
def deferred(client: AutotuneClient) -> Iterator[Deferred]:
    with deferred_batch(client) as made:
        yield made


@contextmanager
def deferred_batch(client: AutotuneClient) -> Iterator[Deferred]:
    with loopback_grader() as grader:
        grader_id = verified(client, grader, maxBatchSize=10, supportsAsync=True)
        task = client.tasks.create(name="deferred", grader_id=grader_id)
        grader.disease = deferring
        (batch,) = client.completions.submit_many(
            {"taskId": task.id, "modelId": "m", "prompt": str(n), "response": "r"} for n in range(3)
        )
        run_id = run_of(client, grader_id)
        yield Deferred(client, grader, grader_id, batch.batch_id, run_id)


def expire(profile: LocalProfile, call_id: str) -> None:
    """Let a call's time be up now, instead of after the minute that is the shortest."""
    session = boto3.Session("test", "test", region_name=REGION)
    dynamodb = session.client("dynamodb", endpoint_url=profile.aws_endpoint_url)
    table = next(name for name in dynamodb.list_tables()["TableNames"] if "Completions" in name)
    dynamodb.update_item(
        TableName=table,
        Key={"pk": {"S": call_id}, "sk": {"S": "call"}},
        UpdateExpression="SET due_at = :past",
        ExpressionAttributeValues={":past": {"S": "2026-01-01T00:00:00Z"}},
    )


def test_the_example_scores_when_it_is_done(
    client: AutotuneClient, serve: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATIENCE_SECONDS", "2")
    with serve(
        "examples/graders/patient_judge.py", "--async", "--max-batch-size", "20"
    ) as grader_id:
        task = client.tasks.create(name="patient", grader_id=grader_id)
        (batch,) = client.completions.submit_many(
            {
                "taskId": task.id,
                "modelId": "m",
                "prompt": "?",
                "response": f"It is {n}.",
                "metadata": {"answer": "2"} if n < 4 else {},
            }
            for n in range(5)
        )
        done = client.batches.wait(batch.batch_id, timeout=PATIENCE)
    values = [verdict.score.value if verdict.score else None for verdict in done.verdicts]
    assert values == [0.0, 0.0, 1.0, 0.0, None]
    assert done.counts.abstained == 1


def test_a_run_that_is_answered_goes_on_and_ends(
    deferred: Deferred, command_line: CommandLine
) -> None:
    shown = command_line.run("runs", "list", "--state", "waiting").stdout
    assert deferred.run_id in shown
    assert "wait_for_callback" in shown
    assert send(deferred.grader.callback()) == 200
    assert deferred.states == [("scored", None)] * 3
    deferred.wait_for_run("completed")
    assert len(deferred.grader.requests) == 1


def test_an_answer_that_comes_twice_counts_once(deferred: Deferred) -> None:
    callback = deferred.grader.callback()
    assert [send(callback) for _ in range(2)] == [200, 200]
    before = deferred.client.batches.get(deferred.batch_id)
    path, asked = deferred.grader.requests[-1]
    other = deferred.grader.scores(path, asked["requestId"], asked)
    other["scores"][0]["score"]["value"] = 0.125
    assert send(deferred.grader.callback(answer=other)) == 409
    assert deferred.client.batches.get(deferred.batch_id) == before
    assert before.counts.scored == 3


def test_an_answer_that_is_wrongly_signed_changes_nothing(deferred: Deferred) -> None:
    assert send(deferred.grader.callback(secret="wrong")) == 404
    assert deferred.client.batches.get(deferred.batch_id).counts.pending == 3
    assert send(deferred.grader.callback()) == 200
    assert deferred.states == [("scored", None)] * 3


def test_an_answer_after_its_time_is_dropped(deferred: Deferred, profile: LocalProfile) -> None:
    expire(profile, deferred.call_id)
    assert send(deferred.grader.callback()) == 409
    assert deferred.states == [("failed", "callback_timeout")] * 3
    deferred.wait_for_run("completed")
    assert deferred.client.runs.get(deferred.run_id).late_answers == 3


def test_who_never_answers_fails_and_the_sweeper_ends_the_wait(
    deferred: Deferred, profile: LocalProfile, command_line: CommandLine
) -> None:
    make_due(profile.aws_endpoint_url, deferred.batch_id)
    command_line.run("ops", "sweep")
    assert deferred.client.batches.get(deferred.batch_id).counts.pending == 3
    expire(profile, deferred.call_id)
    make_due(profile.aws_endpoint_url, deferred.batch_id)
    command_line.run("ops", "sweep")
    assert deferred.states == [("failed", "callback_timeout")] * 3
    assert len(deferred.grader.requests) == 1
