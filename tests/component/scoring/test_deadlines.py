"""A completion that is out of time ends ``failed``, and no run sleeps beyond a deadline."""

from datetime import timedelta
from typing import Any

import pytest

from functions.scoring import grade_chunk
from tests.support.clock import TurnedClock
from tests.support.graders import Exchange, LoopbackGrader
from tests.support.platform import Platform


def later(seconds: float) -> None:
    """Let rounds begin at a later time."""
    grade_chunk.parts().grading.clock = TurnedClock(timedelta(seconds=seconds))


def busy(exchange: Exchange) -> None:
    exchange.status = 429
    exchange.headers["retry-after"] = "90"


def run_of(platform: Platform, task_id: str, completions: int = 2) -> Any:
    platform.submit(task_id, *({} for _ in range(completions)))
    platform.dispatch(platform.queued())
    return platform.runs()[-1]


def verdicts(platform: Platform, task_id: str) -> set[tuple[str, str, int]]:
    found = platform.call("GET", "/api/v1/scores", query={"taskId": task_id}).json["scores"]
    return {(one["state"], one["reasonCode"], one["attempts"]) for one in found}


def test_what_is_late_when_a_round_begins_is_not_asked(
    platform: Platform, grader: LoopbackGrader
) -> None:
    task_id = platform.new_task(platform.new_grader(grader), deadlineSeconds=60)
    run = run_of(platform, task_id)
    later(61)
    assert platform.grade(run)["remaining"] == 0
    assert not grader.requests
    assert verdicts(platform, task_id) == {("failed", "deadline_exceeded", 0)}


def test_what_would_sleep_beyond_its_deadline_ends_now(
    platform: Platform, grader: LoopbackGrader
) -> None:
    grader_id = platform.new_grader(grader)
    task_id = platform.new_task(grader_id, deadlineSeconds=60)
    grader.disease = busy
    left = platform.grade(run_of(platform, task_id))
    assert (left["remaining"], len(grader.requests)) == (0, 2)
    assert verdicts(platform, task_id) == {("failed", "deadline_exceeded", 1)}


def test_a_run_sleeps_for_those_that_have_time(platform: Platform, grader: LoopbackGrader) -> None:
    grader_id = platform.new_grader(grader)
    urgent = platform.new_task(grader_id, deadlineSeconds=60)
    patient = platform.new_task(grader_id, deadlineSeconds=100)
    grader.disease = busy
    platform.submit(urgent, {}, {"taskId": patient})
    platform.dispatch(platform.queued())
    (run,) = platform.runs()

    left = platform.grade(run)

    assert (left["remaining"], left["sleep_seconds"]) == (1, 90)
    assert verdicts(platform, urgent) == {("failed", "deadline_exceeded", 1)}
    assert verdicts(platform, patient) == set()
    later(91)
    assert platform.grade(left)["remaining"] == 0
    assert verdicts(platform, patient) == {("failed", "deadline_exceeded", 2)}


def test_waiting_for_leave_ends_with_the_deadline(
    platform: Platform, grader: LoopbackGrader
) -> None:
    grader_id = platform.new_grader(grader, limits={"requestsPerSecond": 0.01})
    task_id = platform.new_task(grader_id, deadlineSeconds=60)
    assert platform.grade(run_of(platform, task_id, 3))["remaining"] == 0
    assert verdicts(platform, task_id) == {
        ("scored", None, 1),
        ("failed", "deadline_exceeded", 0),
    }


def test_the_deadline_of_the_submission_counts(platform: Platform, grader: LoopbackGrader) -> None:
    task_id = platform.new_task(platform.new_grader(grader), deadlineSeconds=3_600)
    run = run_of(platform, task_id)
    changed = platform.call("PATCH", f"/api/v1/tasks/{task_id}", {"deadlineSeconds": 60})
    assert changed.json["task"]["deadlineSeconds"] == 60
    later(3_500)
    assert platform.grade(run)["remaining"] == 0
    assert verdicts(platform, task_id) == {("scored", None, 1)}


def test_without_a_deadline_a_completion_ends_before_its_run_would(
    platform: Platform, grader: LoopbackGrader
) -> None:
    task_id = platform.new_task(platform.new_grader(grader))
    run = run_of(platform, task_id)
    later(604_799)
    grader.disease = busy
    assert platform.grade(run)["remaining"] == 0
    assert verdicts(platform, task_id) == {("failed", "deadline_exceeded", 1)}


@pytest.mark.parametrize("seconds", [59, 604_801, 60.5, "60", True])
def test_a_deadline_has_a_range(platform: Platform, grader: LoopbackGrader, seconds: Any) -> None:
    body = {"name": "t", "graderId": platform.new_grader(grader), "deadlineSeconds": seconds}
    answer = platform.call("POST", "/api/v1/tasks", body)
    assert (answer.status, set(answer.fields)) == (422, {"deadlineSeconds"})


def test_a_deadline_is_lifted_by_null_alone(platform: Platform, grader: LoopbackGrader) -> None:
    task_id = platform.new_task(platform.new_grader(grader), deadlineSeconds=60)
    path = f"/api/v1/tasks/{task_id}"
    kept = platform.call("PATCH", path, {"name": "other", "description": None}).json["task"]
    assert (kept["name"], kept["deadlineSeconds"]) == ("other", 60)
    lifted = platform.call("PATCH", path, {"deadlineSeconds": None}).json["task"]
    assert lifted["deadlineSeconds"] is None
    assert platform.call("GET", path).json["task"] == lifted
