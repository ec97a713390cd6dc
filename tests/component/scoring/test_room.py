"""No organisation begins more runs than functions grade at once, and none waits for another's."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from autotune_platform.runs.repository import RunRepository
from autotune_platform.runs.room import COUNTED_FOR
from autotune_platform.scoring.dispatch import LONGEST_WAIT_SECONDS
from functions.scoring import dispatch_chunks, sweep_batches
from tests.support.clock import StandingClock
from tests.support.graders import LoopbackGrader
from tests.support.platform import Platform

MOST = 3
# Two such batches are too large for one run.
OF_EACH = 60


class DispatchClock(StandingClock):
    """While dispatch sleeps, so many runs end their first round."""

    def __init__(self, platform: Platform) -> None:
        super().__init__()
        self._platform = platform
        self.grades = 0
        self.graded: list[str] = []

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        due = [run for run in self._platform.runs() if run["run_id"] not in self.graded]
        for run in due[: self.grades]:
            assert self._platform.grade(run)["remaining"] == 0
            self.graded.append(run["run_id"])


@pytest.fixture
def clock(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> Iterator[DispatchClock]:
    monkeypatch.setenv("GRADING_FUNCTIONS", str(MOST))
    dispatch_chunks.parts.cache_clear()
    made, dispatch = DispatchClock(platform), dispatch_chunks.parts().dispatch
    dispatch.clock = dispatch.room.clock = dispatch.recorder.clock = made
    yield made
    dispatch_chunks.parts.cache_clear()


@pytest.fixture
def task_id(platform: Platform, grader: LoopbackGrader) -> str:
    return new_task(platform, grader)


def new_task(platform: Platform, grader: LoopbackGrader) -> str:
    return platform.new_task(platform.new_grader(grader, capabilities={"maxBatchSize": 100}))


@contextmanager
def another_organization(platform: Platform) -> Iterator[None]:
    before, platform.api_key = platform.api_key, platform.new_organization("another")
    yield
    platform.api_key = before


def queued(platform: Platform, task_id: str, *, runs: int) -> list[dict[str, Any]]:
    for _ in range(runs):
        assert platform.submit(task_id, *({},) * OF_EACH).status == 202
    return platform.queued()


def test_what_has_no_room_waits_until_runs_before_it_are_graded(
    platform: Platform, task_id: str, clock: DispatchClock
) -> None:
    clock.grades = 1
    assert platform.dispatch(queued(platform, task_id, runs=MOST + 2)) == []
    assert len(platform.runs()) == MOST + 2
    assert sum(clock.slept) == 2
    assert len(clock.graded) == 2


def test_another_organizations_runs_begin_at_once(
    platform: Platform, grader: LoopbackGrader, task_id: str, clock: DispatchClock
) -> None:
    records = queued(platform, task_id, runs=MOST + 1)
    with another_organization(platform):
        records += queued(platform, new_task(platform, grader), runs=1)
    begun_at: dict[str, float] = {}
    start = dispatch_chunks.parts().dispatch.runs.try_start

    def started(run_id: str, state: str) -> bool:
        begun_at[run_id] = clock.ahead.total_seconds()
        return start(run_id, state)

    dispatch_chunks.parts().dispatch.runs.try_start = started  # type: ignore[method-assign]
    assert platform.dispatch(records) == []
    of_tasks = {run["run_id"]: run["organization_id"] for run in platform.runs()}
    (other,) = {*of_tasks.values()} - {platform.me()["organizationId"]}
    assert [at for id_, at in begun_at.items() if of_tasks[id_] == other] == [0]
    # Nothing of the first was graded: what has no room begins at last all the same.
    assert sorted(begun_at.values()) == [0] * (MOST + 1) + [LONGEST_WAIT_SECONDS]


def test_runs_that_were_lost_take_no_room_for_long(
    platform: Platform, task_id: str, clock: DispatchClock
) -> None:
    platform.dispatch(queued(platform, task_id, runs=MOST))
    clock.ahead += COUNTED_FOR + timedelta(seconds=1)
    platform.dispatch(queued(platform, task_id, runs=1))
    assert clock.slept == []


def test_a_count_that_is_throttled_holds_nobody_up(
    platform: Platform, task_id: str, clock: DispatchClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def throttled(*_: Any, **__: Any) -> int:
        raise ClientError({"Error": {"Code": "ThrottlingException"}}, "Query")

    monkeypatch.setattr(RunRepository, "begun", throttled)
    assert platform.dispatch(queued(platform, task_id, runs=2)) == []
    assert len(platform.runs()) == 2


def test_the_queue_is_told_whose_each_message_is(platform: Platform, task_id: str) -> None:
    (record,) = queued(platform, task_id, runs=1)
    assert record["attributes"]["MessageGroupId"] == platform.me()["organizationId"]


def test_a_backlog_that_others_pass_is_not_taken_for_lost(
    platform: Platform, grader: LoopbackGrader, task_id: str
) -> None:
    """The queue lets quiet organisations pass one whose backlog is in its consumers' hands."""
    first, last = (queued(platform, task_id, runs=1) for _ in range(2))
    with another_organization(platform):
        others = queued(platform, new_task(platform, grader), runs=1)
        other_id = platform.me()["organizationId"]
    first[0]["attributes"]["SentTimestamp"] = str(_sent_at(first[0]) - 120_000)
    last_at, others_at = map(_sent_at, last + others)
    others[0]["attributes"]["SentTimestamp"] = str(others_at + 3 * 3_600_000)
    platform.dispatch(first + others)
    boto3.client("sqs").send_message(QueueUrl=_url("normal"), MessageBody="waits")
    queues = _queues()
    mine = queues.backlog("normal", platform.me()["organizationId"])
    theirs = queues.backlog("normal", other_id)
    assert mine.timestamp() * 1000 <= last_at
    # Theirs came at once: what was queued long ago is not there, whatever is said of the queue.
    assert theirs.timestamp() == pytest.approx(time.time() - 1_800, abs=60)


def test_what_was_lost_beside_anothers_backlog_is_redriven(
    platform: Platform, grader: LoopbackGrader, task_id: str
) -> None:
    mine = platform.me()["organizationId"]
    queued(platform, task_id, runs=1)  # lost
    with another_organization(platform):
        others = queued(platform, new_task(platform, grader), runs=1)
    others[0]["attributes"]["SentTimestamp"] = str(_sent_at(others[0]) - 3 * 3_600_000)
    platform.dispatch(others)
    boto3.client("sqs").send_message(QueueUrl=_url("normal"), MessageBody="waits")
    since = _queues().backlog("normal", mine)
    assert since.timestamp() == pytest.approx(time.time() - 1_800, abs=60)


def _sent_at(record: dict[str, Any]) -> int:
    return int(record["attributes"]["SentTimestamp"])


def _url(queue: str) -> str:
    return boto3.client("sqs").get_queue_url(QueueName=queue)["QueueUrl"]


def _queues() -> Any:

    return sweep_batches.parts().sweeper.queues
