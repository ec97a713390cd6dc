"""A grader that is down is left alone, and asked by one probe at a time until it is back."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import count
from typing import Any

import pytest

from tests.support.clock import StandingClock
from tests.support.graders import Exchange, LoopbackGrader, healthy
from tests.support.parts import permits
from tests.support.platform import Platform


def down(exchange: Exchange) -> None:
    exchange.status = 503


@pytest.fixture
def clock(platform: Platform) -> StandingClock:
    made = StandingClock()
    permits().clock = made
    return made


def started(platform: Platform, task_id: str, completions: int) -> dict[str, Any]:
    before = {run["completion_ids"][0] for run in platform.runs()}
    platform.submit(task_id, *({"prompt": str(n)} for n in range(completions)))
    platform.dispatch(platform.queued())
    (new,) = [run for run in platform.runs() if run["completion_ids"][0] not in before]
    return new


@pytest.fixture
def task_id(platform: Platform, grader: LoopbackGrader) -> str:
    return platform.new_task(platform.new_grader(grader))


def test_a_circuit_opens_sleeps_probes_and_closes(
    platform: Platform, grader: LoopbackGrader, clock: StandingClock, task_id: str
) -> None:
    run = started(platform, task_id, 40)
    grader.disease = down

    left = platform.grade(run)
    asked = len(grader.requests)
    assert 3 <= asked <= 11  # eight were under way when the third failed
    assert left["remaining"] == 40
    assert 30 <= left["sleep_seconds"] <= 33
    assert (left["attempt"], len(left["delayed_ids"])) == (0, asked)

    waiting = platform.grade(left)
    assert len(grader.requests) == asked
    assert (waiting["attempt"], waiting["waits"]) == (0, 1)
    assert 25 <= waiting["sleep_seconds"] <= 35

    clock.ahead = timedelta(seconds=31)
    left = platform.grade(waiting)
    assert len(grader.requests) == asked + 1
    assert left["sleep_seconds"] >= 59

    clock.turn(seconds=61)
    grader.disease = healthy
    left = platform.grade(left)
    assert left["sleep_seconds"] < 10  # the pass is over; what failed in it is asked once more
    assert (left["attempt"], left["remaining"]) == (1, asked + 1)
    assert platform.grade(left)["remaining"] == 0
    (verdicts,) = [platform.call("GET", "/api/v1/scores", query={"taskId": task_id}).json["scores"]]
    assert sorted({verdict["state"] for verdict in verdicts}) == ["scored"]
    assert {verdict["attempts"] for verdict in verdicts} == {1, 2}


def test_one_probe_at_a_time(
    platform: Platform, grader: LoopbackGrader, clock: StandingClock, task_id: str
) -> None:
    runs = [started(platform, task_id, 1) for _ in range(6)]
    sick = started(platform, task_id, 12)
    grader.disease = down
    platform.grade(sick)
    grader.requests.clear()
    clock.ahead = timedelta(seconds=31)
    others_are_done = threading.Event()

    def slow(_: Exchange) -> None:
        assert others_are_done.wait(25)

    grader.disease = slow
    with ThreadPoolExecutor(len(runs)) as functions:
        rounds = [functions.submit(platform.grade, run) for run in runs]
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and not (
            grader.requests and sum(one.done() for one in rounds) == 5
        ):
            time.sleep(0.01)
        asked = len(grader.requests)
        others_are_done.set()
        assert asked == 1
    ends = [one.result() for one in rounds]
    assert sorted(end["remaining"] for end in ends) == [0, 1, 1, 1, 1, 1]
    assert all(end["attempt"] == 0 and end["sleep_seconds"] for end in ends if end["remaining"])
    assert [platform.grade(end)["remaining"] for end in ends] == [0] * 6


@pytest.mark.parametrize("status", [400, 429])
def test_a_grader_that_refuses_is_not_down(
    platform: Platform, grader: LoopbackGrader, clock: StandingClock, task_id: str, status: int
) -> None:
    grader.disease = lambda exchange: setattr(exchange, "status", status)
    platform.grade(started(platform, task_id, 20))
    assert len(grader.requests) == 20
    grader.disease = healthy
    assert platform.grade(started(platform, task_id, 1))["remaining"] == 0


def test_a_minority_of_failures_opens_nothing(
    platform: Platform, grader: LoopbackGrader, clock: StandingClock, task_id: str
) -> None:
    platform.grade(started(platform, task_id, 30))

    number = count(1)

    def sometimes(exchange: Exchange) -> None:
        if next(number) % 3 == 0:  # counted here: the list of requests grows in eight threads
            exchange.status = 503

    grader.disease = sometimes
    left = platform.grade(started(platform, task_id, 60))
    assert len(grader.requests) == 90
    assert left["attempt"] == 1


def test_a_probe_that_makes_no_call_lets_others_probe(
    platform: Platform, grader: LoopbackGrader, clock: StandingClock, task_id: str
) -> None:
    run = started(platform, task_id, 1)
    grader.disease = down
    platform.grade(started(platform, task_id, 12))
    clock.ahead = timedelta(seconds=31)
    grader.disease = healthy
    assert platform.grade(run, seconds=10)["remaining"] == 1
    assert platform.grade(run)["remaining"] == 0
