"""Runs that wait behind a limit: what real rounds read and write, on a simulated clock."""

import heapq
import os
import time
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest

from autotune_platform.runs.progress import ROUNDS_OF_AN_EXECUTION, ChunkProgress
from functions.scoring import continue_run, grade_chunk
from tests.component.scoring.test_limits import runs_of
from tests.support.clock import StandingClock
from tests.support.graders import LoopbackGrader
from tests.support.parts import permits
from tests.support.platform import Platform

FUNCTION_SECONDS = 120


class OneThreadClock(StandingClock):
    """Who sleeps at the same time wakes at the same time: sleeps do not add up."""

    def sleep(self, seconds: float) -> None:
        until = self.ahead + timedelta(seconds=seconds)
        self.slept.append(seconds)
        self.ahead = max(self.ahead, until)


@pytest.fixture
def clock(platform: Platform) -> StandingClock:
    made = OneThreadClock()
    parts = grade_chunk.parts()
    parts.grading.clock = parts.permits.clock = parts.writer.clock = made
    parts.open_batches.clock = made
    return made


def costs(platform: Platform, clock: StandingClock, runs: list[Any]) -> Counter[str]:
    """Go round runs that start at once, each round at its time, until nothing is left."""
    done: Counter[str] = Counter()

    def note(params: Any, model: Any, **_: Any) -> None:
        keys = params.get("RequestItems", {}).values()
        reads = sum(len(one["Keys"]) for one in keys if "Keys" in one)
        done[f"{model.name} {params.get('TableName', 'completions')}"] += reads or 1
        if model.name in {"GetItem", "BatchGetItem", "Query"}:
            done["reads"] += reads or 1
        else:
            done["writes"] += 1

    events = permits().budgets._table._client.meta.events
    events.register("before-parameter-build.dynamodb", note)
    due = [(0.0, number, progress) for number, progress in enumerate(runs)]
    while due:
        at, number, progress = heapq.heappop(due)
        clock.ahead = timedelta(seconds=at)
        begun = clock.unix()
        left = grade_chunk.parts().grading.grade(
            ChunkProgress.model_validate(progress),
            seconds_left=lambda begun=begun: FUNCTION_SECONDS - (clock.unix() - begun),
        )
        done["rounds"] += 1
        if left.remaining:
            awake_at = clock.ahead.total_seconds() + left.sleep_seconds
            heapq.heappush(due, (awake_at, number, left.model_dump(mode="json")))
    events.unregister("before-parameter-build.dynamodb", note)
    return done


def test_waiting_costs_as_much_for_each_completion_however_many_wait(
    platform: Platform, grader: LoopbackGrader, clock: StandingClock
) -> None:
    each = {}
    for runs in (4, 12):
        grader_id = platform.new_grader(grader, limits={"requestsPerSecond": 1})
        before = {run["run_id"] for run in platform.runs()}
        task_id = platform.new_task(grader_id)
        for _ in range(runs):
            platform.submit(task_id, *({"prompt": str(n)} for n in range(20)))
            platform.dispatch(platform.queued())
        new = [run for run in platform.runs() if run["run_id"] not in before]
        done = costs(platform, clock, new)
        each[runs] = {name: count / (20 * runs) for name, count in done.items()}
    assert len(grader.asked_ids) == len(set(grader.asked_ids)) == 20 * 16
    for name in ("rounds", "reads", "writes"):
        assert each[12][name] <= 1.25 * each[4][name], each


def test_who_waits_behind_a_limit_reads_no_text_and_comes_back_at_its_turn(
    platform: Platform,
    grader: LoopbackGrader,
    clock: StandingClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    grader_id = platform.new_grader(grader, limits={"requestsPerSecond": 0.08})
    first, second, third = runs_of(platform, platform.new_task(grader_id), runs=3, completions=3)
    assert platform.grade(first)["remaining"] > 0
    # Its calls have moments up to then.
    clock.ahead = timedelta()
    read: list[Any] = []
    load = grade_chunk.parts().completions.load
    monkeypatch.setattr(
        grade_chunk.parts().completions, "load", lambda ids: read.append(ids) or load(ids)
    )
    waiting = [platform.grade(one) for one in (second, third)]
    assert read == []
    assert [one["waits"] for one in waiting] == [1, 1]
    turns = [one["turn_at"] - clock.unix() for one in waiting]
    # Three calls at one in 12.5 seconds: a round waits ten for its next.
    assert turns[1] - turns[0] == pytest.approx(37.5, abs=1)
    assert [one["sleep_seconds"] for one in waiting] == [
        pytest.approx(turn, abs=2) for turn in turns
    ]
    (run,) = [
        one
        for one in platform.call("GET", "/api/v1/runs").json["runs"]
        if one["id"] == second["run_id"]
    ]
    assert (run["state"], run["step"]) == ("sleeping", "wait_for_limit")


def test_what_was_canceled_takes_no_turn(
    platform: Platform, grader: LoopbackGrader, clock: StandingClock
) -> None:
    grader_id = platform.new_grader(grader, limits={"requestsPerSecond": 0.08})
    first, second, third = runs_of(platform, platform.new_task(grader_id), runs=3, completions=3)
    assert platform.grade(first)["remaining"] > 0
    clock.ahead = timedelta()
    for run in (second, third):
        assert platform.grade(run)["remaining"] == 3
    path = f"/api/v1/runs/{second['run_id']}/cancel"
    assert platform.call("POST", path).status == 200
    before = permits().budgets.next_turn(grader_id)
    left = platform.grade(second)
    assert (left["remaining"], left["turn_at"]) == (0, 0)
    assert permits().budgets.next_turn(grader_id) == before


def test_a_deadline_before_the_turn_is_waited_for_without_one(
    platform: Platform, grader: LoopbackGrader, clock: StandingClock
) -> None:
    grader_id = platform.new_grader(grader, limits={"requestsPerSecond": 0.1})
    task_id = platform.new_task(grader_id, deadlineSeconds=60)
    runs = runs_of(platform, task_id, runs=4, completions=3)
    for progress in runs:
        left = platform.grade(progress)
        clock.ahead = timedelta()
    assert left["turn_at"] == 0
    assert 20 < left["sleep_seconds"] < 90
    while left["remaining"]:
        clock.turn(seconds=left["sleep_seconds"])
        left = platform.grade(left)
    assert clock.ahead <= timedelta(seconds=150)


def test_a_run_goes_on_in_another_execution_after_so_many_rounds(
    platform: Platform, grader: LoopbackGrader
) -> None:
    task_id = platform.new_task(platform.new_grader(grader, limits={"requestsPerSecond": 0.01}))
    (progress,) = runs_of(platform, task_id, runs=1, completions=2)
    left = platform.grade({**progress, "rounds": ROUNDS_OF_AN_EXECUTION - 2})
    assert not left["is_history_full"]
    left = platform.grade(left)
    assert left["is_history_full"]
    before = platform.runs()
    machine = {"state_machine_arn": _state_machine()}
    for _ in range(2):
        continue_run.lambda_handler({"progress": left, **machine}, None)
    (following,) = [one for one in platform.runs() if one not in before]
    assert following == {**left, "is_history_full": False}
    assert following["run_id"] == progress["run_id"]
    assert not platform.grade(following)["is_history_full"]


def _state_machine() -> str:
    return os.environ["SCORE_COMPLETIONS_ARN"]


def test_a_busy_table_of_permits_is_waited_for(
    platform: Platform, grader: LoopbackGrader, monkeypatch: pytest.MonkeyPatch
) -> None:
    grader_id = platform.new_grader(grader, limits={"maxConcurrency": 2, "requestsPerSecond": 5})
    (progress,) = runs_of(platform, platform.new_task(grader_id), runs=1, completions=2)
    client = permits().budgets._table._client

    def throttle(params: Any, **_: Any) -> None:
        if params.get("TableName") == "budgets":
            code = {"Error": {"Code": "ThrottlingException"}}
            raise client.exceptions.ClientError(code, "UpdateItem")

    client.meta.events.register("before-parameter-build.dynamodb", throttle)
    left = platform.grade(progress)
    client.meta.events.unregister("before-parameter-build.dynamodb", throttle)
    assert (left["remaining"], left["attempt"], left["waits"]) == (2, 0, 1)
    assert left["sleep_seconds"] > 0
    assert not grader.requests
    while left["remaining"]:
        time.sleep(0.1)
        left = platform.grade(left)
    assert len(set(grader.asked_ids)) == 2
