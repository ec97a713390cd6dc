"""A grader that answers later, and the run of a batch that it was asked about."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest

from autotune_platform.runtime import clients
from tests.support.aws import API_URL
from tests.support.graders import Callback, LoopbackGrader, deferring
from tests.support.lambdas import Answer
from tests.support.platform import Platform


@dataclass
class Waiting:
    """A batch whose run waits for its grader's callbacks."""

    platform: Platform
    grader: LoopbackGrader
    grader_id: str
    batch_id: str
    progress: dict[str, Any]
    tokens: list[str] = field(default_factory=list)

    def send(self, callback: Callback) -> Answer:
        path = callback.url.removeprefix(API_URL)
        return self.platform.call_back(path, callback.body, callback.headers)

    def answer(self, place: int = -1, **changes: Any) -> Answer:
        return self.send(self.grader.callback(place, **changes))

    def states(self) -> list[tuple[str, str | None]]:
        """State and reason of each verdict that there is."""
        verdicts = self.platform.batch(self.batch_id)["verdicts"]
        states = [(verdict["state"], verdict["reasonCode"]) for verdict in verdicts]
        return [state for state in states if state != ("pending", None)]

    def run(self) -> dict[str, Any]:
        path = f"/api/v1/runs/{self.progress['run_id']}"
        run: dict[str, Any] = self.platform.call("GET", path).json["run"]
        return run

    def stored_run(self) -> dict[str, Any]:
        """The run as it lies in the table: reading it by the API may end it."""
        return item(self.progress["run_id"], "run")

    def call_item(self, place: int = -1) -> dict[str, Any]:
        return item(self.call_id(place), "call")

    def call_id(self, place: int = -1) -> str:
        url: str = self.grader.requests[place][1]["callbackUrl"]
        return url.rpartition("/")[2]

    def age(self, seconds: int, place: int = -1) -> None:
        """Let a call be older than it is."""
        stored = self.call_item(place)
        for name in ("due_at", "heartbeat_by", "created_at"):
            if name in stored:
                moment = datetime.fromisoformat(stored[name]) - timedelta(seconds=seconds)
                change(self.call_id(place), "call", name, moment.isoformat().replace("+00:00", "Z"))


def table() -> Any:
    return boto3.resource("dynamodb").Table("completions")


def item(pk: str, sk: str) -> dict[str, Any]:
    found: dict[str, Any] = table().get_item(Key={"pk": pk, "sk": sk})["Item"]
    return found


def change(pk: str, sk: str, name: str, value: Any) -> None:
    table().update_item(
        Key={"pk": pk, "sk": sk},
        UpdateExpression="SET #n = :v",
        ExpressionAttributeNames={"#n": name},
        ExpressionAttributeValues={":v": value},
    )


def due_in(batch_id: str) -> float:
    """Seconds until the sweeper looks after a batch."""
    due = datetime.fromisoformat(item(batch_id, "batch")["due_at"])
    return (due - datetime.now(UTC)).total_seconds()


@pytest.fixture
def sent_tokens(monkeypatch: pytest.MonkeyPatch, platform: Platform) -> list[str]:
    """Task tokens that were sent; moto knows none of them."""
    sent: list[str] = []

    def send_task_success(*, taskToken: str, output: str) -> dict[str, Any]:  # noqa: N803
        assert json.loads(output) == {}
        if taskToken == "lost":
            raise client.exceptions.TaskDoesNotExist(
                {"Error": {"Code": "TaskDoesNotExist"}}, "SendTaskSuccess"
            )
        sent.append(taskToken)
        return {}

    client = clients.stepfunctions()
    monkeypatch.setattr(client, "send_task_success", send_task_success)
    return sent


Starter = Callable[..., Waiting]


@pytest.fixture
def start(platform: Platform, grader: LoopbackGrader, sent_tokens: list[str]) -> Iterator[Starter]:
    """Submit completions to a deferring grader and do the first round of their run."""

    def started(
        *completions: dict[str, Any],
        wait: bool = True,
        token: str = "token",
        settings: dict[str, Any] | None = None,
        max_batch_size: int = 10,
        **task: Any,
    ) -> Waiting:
        grader_id = platform.new_grader(
            grader,
            capabilities={"maxBatchSize": max_batch_size, "supportsAsync": True},
            asyncSettings=settings or {},
        )
        grader.disease = deferring
        accepted = platform.submit(platform.new_task(grader_id, **task), *(completions or ({},)))
        platform.dispatch(platform.queued())
        (progress,) = platform.runs()
        left = platform.grade(progress)
        if wait:
            platform.await_answers(left, token)
        batch_id = accepted.json["batchId"]
        return Waiting(platform, grader, grader_id, batch_id, left, sent_tokens)

    return started
