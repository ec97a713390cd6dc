"""However many runs call a grader, together they stay within its owner's limits."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from autotune_platform.budgets.repository import BudgetRepository
from tests.support.clock import TurnedClock
from tests.support.graders import Exchange, LoopbackGrader
from tests.support.parts import permits
from tests.support.platform import Platform


def runs_of(platform: Platform, task_id: str, *, runs: int, completions: int) -> list[Any]:
    """Start runs that are not merged, each with some completions."""
    for _ in range(runs):
        platform.submit(task_id, *({"prompt": str(n)} for n in range(completions)))
        platform.dispatch(platform.queued())
    started = platform.runs()
    assert len(started) == runs
    return started


def grade_all(platform: Platform, started: list[Any], *, sleep: float) -> list[Any]:
    """Go round all runs at the same time, as so many functions would."""

    def go_round(progress: Any) -> Any:
        while progress["remaining"]:
            progress = platform.grade(progress)
            if progress["sleep_seconds"]:
                time.sleep(sleep)
        return progress

    platform.grade({**started[0], "completion_ids": [], "remaining": 0})  # the process is warm now
    with ThreadPoolExecutor(len(started)) as functions:
        return list(functions.map(go_round, started))


def test_a_grader_never_has_more_requests_at_once_than_it_bears(
    platform: Platform, grader: LoopbackGrader
) -> None:
    grader_id = platform.new_grader(grader, limits={"maxConcurrency": 3})
    started = runs_of(platform, platform.new_task(grader_id), runs=8, completions=5)
    lock, under_way, seen = threading.Lock(), 0, []

    def slow(_: Exchange) -> None:
        nonlocal under_way
        with lock:
            under_way += 1
            seen.append(under_way)
        time.sleep(0.02)
        with lock:
            under_way -= 1

    grader.disease = slow
    ends = grade_all(platform, started, sleep=0.02)

    assert len(seen) == 40
    assert max(seen) == 3
    assert [end["attempt"] for end in ends] == [0] * 8
    assert len(set(grader.asked_ids)) == 40


def test_requests_of_all_runs_are_paced_together(
    platform: Platform, grader: LoopbackGrader, monkeypatch: pytest.MonkeyPatch
) -> None:
    rate = 25
    grader_id = platform.new_grader(grader, limits={"requestsPerSecond": rate})
    started = runs_of(platform, platform.new_task(grader_id), runs=4, completions=10)
    reserved: list[float] = []
    reserve_call = BudgetRepository.reserve_call

    def noted(self: BudgetRepository, *arguments: Any, **options: Any) -> tuple[float, bool]:
        moment, granted = reserve_call(self, *arguments, **options)
        if granted:
            reserved.append(moment)
        return moment, granted

    monkeypatch.setattr(BudgetRepository, "reserve_call", noted)
    arrived: list[float] = []
    grader.disease = lambda _: arrived.append(time.time())

    grade_all(platform, started, sleep=0.02)

    reserved.sort()
    assert len(arrived) == len(reserved) == 40
    # Moments are apart whoever reserved them, and no request comes before its own: a request that
    # is held up on its way says nothing about the pace.
    assert all(later - sooner >= 1 / rate - 1e-3 for sooner, later in pairwise(reserved))
    assert all(came >= due - 0.01 for came, due in zip(sorted(arrived), reserved, strict=True))


def test_a_slow_pace_is_slept_away_and_is_no_attempt(
    platform: Platform, grader: LoopbackGrader
) -> None:
    grader_id = platform.new_grader(grader, limits={"requestsPerSecond": 0.01})
    (progress,) = runs_of(platform, platform.new_task(grader_id), runs=1, completions=3)

    left = platform.grade(progress)

    assert len(grader.requests) == 1
    assert (left["remaining"], left["attempt"], left["waits"]) == (2, 0, 0)
    assert 95 <= left["sleep_seconds"] <= 103
    again = platform.grade(left)
    assert len(grader.requests) == 1
    assert (again["remaining"], again["attempt"], again["waits"]) == (2, 0, 1)


def test_slots_of_a_function_that_died_become_free(
    platform: Platform, grader: LoopbackGrader
) -> None:
    grader_id = platform.new_grader(grader, limits={"maxConcurrency": 1})
    (progress,) = runs_of(platform, platform.new_task(grader_id), runs=1, completions=2)
    begun = time.time()
    assert permits().budgets.change_leases(
        grader_id,
        begun,
        lambda leases: leases.taken("dead", begun, wanted=1, limit=1, seconds=120),
    )

    waiting = platform.grade(progress)
    assert not grader.requests
    assert (waiting["attempt"], waiting["waits"], waiting["remaining"]) == (0, 1, 2)
    assert waiting["sleep_seconds"] > 0
    permits().clock = TurnedClock(timedelta(seconds=120))
    assert platform.grade(waiting)["remaining"] == 0


def test_a_grader_without_limits_costs_one_read_a_round(
    platform: Platform, grader: LoopbackGrader
) -> None:
    task_id = platform.new_task(platform.new_grader(grader))
    (progress,) = runs_of(platform, task_id, runs=1, completions=20)
    asked: list[str] = []

    def note(params: Any, model: Any, **_: Any) -> None:
        if params.get("TableName") == "budgets":
            asked.append(model.name)

    events = permits().budgets._table._client.meta.events
    events.register("before-parameter-build.dynamodb", note)
    assert platform.grade(progress)["remaining"] == 0
    assert asked == ["GetItem"]


LIMITS = {
    "nothing": ({"maxConcurrency": 0}, 422),
    "too many": ({"maxConcurrency": 1_001}, 422),
    "a half": ({"maxConcurrency": 1.5}, 422),
    "text": ({"maxConcurrency": "5"}, 422),
    "true": ({"requestsPerSecond": True}, 422),
    "never": ({"requestsPerSecond": 0}, 422),
    "too slow": ({"requestsPerSecond": 0.001}, 422),
    "too fast": ({"requestsPerSecond": 10_001}, 422),
    "a slip": ({"maxConcurency": 5}, 422),
    "no object": ([5], 422),
    "least": ({"maxConcurrency": 1, "requestsPerSecond": 0.01}, 201),
    "most": ({"maxConcurrency": 1_000, "requestsPerSecond": 10_000}, 201),
    "none": ({}, 201),
}


@pytest.mark.parametrize(("limits", "status"), LIMITS.values(), ids=LIMITS.keys())
def test_limits_have_a_range(platform: Platform, limits: Any, status: int) -> None:
    body = {"name": "g", "endpoint": "http://127.0.0.1:1", "limits": limits}
    answer = platform.call("POST", "/api/v1/graders", body)
    assert answer.status == status
    if status == 422:
        assert all(field.startswith("limits") for field in answer.fields)
    else:
        shown = answer.json["grader"]["limits"]
        assert {name: value for name, value in shown.items() if value is not None} == limits


def test_limits_are_changed_as_a_whole_and_lifted(platform: Platform) -> None:
    body = {"name": "g", "endpoint": "http://127.0.0.1:1", "limits": {"maxConcurrency": 5}}
    path = f"/api/v1/graders/{platform.call('POST', '/api/v1/graders', body).json['grader']['id']}"
    for limits in ({"requestsPerSecond": 2.5}, {}):
        platform.call("PATCH", path, {"limits": limits})
        shown = platform.call("PATCH", path, {"name": "h"}).json["grader"]["limits"]
        assert {name: value for name, value in shown.items() if value is not None} == limits
