"""Runs are read, listed by state and canceled; what is told of them never stands in their way."""

from typing import Any

import boto3
import pytest

from autotune.protocol.ids import new_id
from autotune_platform.storage.table import Table
from tests.support.graders import LoopbackGrader, answering
from tests.support.lambdas import handler
from tests.support.parts import permits
from tests.support.platform import Platform


@pytest.fixture
def task_id(platform: Platform, grader: LoopbackGrader) -> str:
    return platform.new_task(platform.new_grader(grader))


def start(platform: Platform, task_id: str, *completions: dict[str, Any]) -> Any:
    """Submit completions and dispatch them; return the state of their run."""
    accepted = platform.submit(task_id, *(completions or ({},)))
    platform.dispatch(platform.queued())
    ids = accepted.json["completionIds"]
    (progress,) = [run for run in platform.runs() if run["completion_ids"] == ids]
    return progress


def read(platform: Platform, progress: Any) -> Any:
    return platform.call("GET", f"/api/v1/runs/{progress['run_id']}").json["run"]


def cancel(platform: Platform, progress: Any, **options: Any) -> Any:
    return platform.call("POST", f"/api/v1/runs/{progress['run_id']}/cancel", **options)


def listed(platform: Platform, **query: Any) -> list[Any]:
    found: list[Any] = []
    while True:
        page = platform.call("GET", "/api/v1/runs", query=query).json
        found += page["runs"]
        if not page.get("nextToken"):
            return found
        query["nextToken"] = page["nextToken"]


def test_a_run_is_pending_until_its_first_round_and_then_completed(
    platform: Platform, grader: LoopbackGrader, task_id: str
) -> None:
    progress = start(platform, task_id, {}, {"metadata": {"abstain": True}})
    run = read(platform, progress)
    assert (run["state"], run["step"], run["remaining"], run["completions"]) == (
        *("pending", "grade"),
        *(2, 2),
    )
    assert run["counts"]["pending"] == 2
    assert run["completionIds"] == progress["completion_ids"]

    platform.grade(progress)

    run = read(platform, progress)
    assert (run["state"], run["step"], run["remaining"]) == ("completed", "done", 0)
    assert run["counts"] == {
        "expected": 2,
        "scored": 1,
        "abstained": 1,
        "failed": 0,
        "canceled": 0,
        "pending": 0,
    }
    assert run["lateAnswers"] == 0


def test_a_run_tells_until_when_it_sleeps(
    platform: Platform, grader: LoopbackGrader, task_id: str
) -> None:
    progress = start(platform, task_id)
    grader.disease = answering(status=503, headers={"retry-after": "600"})
    left = platform.grade(progress)
    run = read(platform, progress)
    assert (run["state"], run["step"], run["attempt"]) == ("sleeping", "retry", 1)
    assert run["sleepUntil"] > run["updatedAt"]

    grader.disease = answering()
    platform.grade(left)
    run = read(platform, progress)
    assert (run["state"], run["attempt"], run.get("sleepUntil")) == ("completed", 1, None)
    went_through = [(event["state"], event["step"], event["remaining"]) for event in run["history"]]
    assert went_through == [
        ("pending", "grade", 1),
        ("sleeping", "retry", 1),
        ("completed", "done", 0),
    ]


def test_a_history_holds_the_last_rounds_and_the_end(
    platform: Platform, grader: LoopbackGrader, task_id: str
) -> None:
    progress = start(platform, task_id)
    left = progress
    for _ in range(25):
        left = platform.grade(left, seconds=10)  # no time to ask anybody
    platform.call("POST", f"/api/v1/runs/{progress['run_id']}/cancel")
    history = read(platform, progress)["history"]
    assert [event["state"] for event in history] == ["running"] * 20 + ["canceled"]
    assert [event["at"] for event in history] == sorted(event["at"] for event in history)


def test_a_run_whose_grader_may_not_be_asked_waits_for_its_limit(
    platform: Platform, grader: LoopbackGrader
) -> None:
    grader_id = platform.new_grader(grader, limits={"requestsPerSecond": 0.01})
    task_id = platform.new_task(grader_id)
    first, second = (start(platform, task_id) for _ in range(2))
    platform.grade(first)
    platform.grade(second)
    run = read(platform, second)
    assert (run["state"], run["step"]) == ("sleeping", "wait_for_limit")


def test_a_run_whose_time_was_over_goes_on_running(platform: Platform, task_id: str) -> None:
    progress = start(platform, task_id)
    platform.grade(progress, seconds=10)
    run = read(platform, progress)
    assert (run["state"], run["step"], run["remaining"]) == ("running", "grade", 1)


def test_a_run_that_gave_up_is_failed(platform: Platform, task_id: str) -> None:
    progress = start(platform, task_id)
    caught = {**progress, "error": {"Error": "Runtime.HandlerError", "Cause": "{}"}}
    handler("functions.scoring.fail_run")(caught, None)
    run = read(platform, progress)
    assert (run["state"], run["step"], run["counts"]["pending"]) == ("failed", "give_up", 1)


@pytest.mark.parametrize("limit", [1, 2, 3, 50])
def test_runs_are_listed_by_state_the_youngest_first_on_pages_of_any_size(
    platform: Platform, task_id: str, limit: int
) -> None:
    runs = [start(platform, task_id) for _ in range(5)]
    for progress in runs[:3]:
        platform.grade(progress)
    ids = [progress["run_id"] for progress in runs]

    pending = listed(platform, state="pending", limit=limit)
    completed = listed(platform, state="completed", limit=limit)

    assert {run["state"] for run in pending} == {"pending"}
    for found, expected in ((pending, ids[3:]), (completed, ids[:3])):
        assert sorted(run["id"] for run in found) == sorted(expected)
        assert found == sorted(found, key=lambda run: (run["startedAt"], run["id"]), reverse=True)
    assert listed(platform, limit=limit) == pending + completed
    assert listed(platform, state="sleeping") == []
    assert "completionIds" not in completed[0]


def test_a_list_of_runs_refuses_what_it_does_not_know(platform: Platform, task_id: str) -> None:
    for _ in range(2):
        start(platform, task_id)
    answer = platform.call("GET", "/api/v1/runs", query={"state": "stuck"})
    assert (answer.status, set(answer.fields)) == (422, {"state"})
    query = {"state": "pending", "limit": 1}
    token = platform.call("GET", "/api/v1/runs", query=query).json["nextToken"]
    for wrong in ({"state": "completed", "nextToken": token}, {"nextToken": token[:-2] + "xx"}):
        answer = platform.call("GET", "/api/v1/runs", query=wrong)
        assert (answer.status, set(answer.fields)) == (422, {"nextToken"})


def test_canceling_a_run_cancels_what_is_pending_and_its_execution_finds_nothing_left(
    platform: Platform, grader: LoopbackGrader, task_id: str
) -> None:
    progress = start(platform, task_id, {}, {})
    first = {**progress, "completion_ids": progress["completion_ids"][:1], "remaining": 1}
    platform.grade({**first, "run_id": new_id("run")})
    asked = len(grader.requests)

    canceled = cancel(platform, progress)

    assert canceled.status == 200
    run = canceled.json["run"]
    assert (run["state"], run["remaining"]) == ("canceled", 0)
    assert (run["counts"]["scored"], run["counts"]["canceled"]) == (1, 1)
    assert platform.grade(progress)["remaining"] == 0
    assert len(grader.requests) == asked
    assert read(platform, progress) == run
    assert cancel(platform, progress).json["run"] == run
    assert [one["id"] for one in listed(platform, state="canceled")] == [run["id"]]


def test_canceling_a_run_that_ended_changes_nothing(platform: Platform, task_id: str) -> None:
    progress = start(platform, task_id)
    platform.grade(progress)
    before = read(platform, progress)
    assert cancel(platform, progress).json["run"] == before
    assert before["counts"]["scored"] == 1


def test_a_cancelation_that_broke_half_way_is_finished_by_its_repetition(
    platform: Platform, task_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from autotune_platform.verdicts.service import VerdictService

    progress = start(platform, task_id)

    def fail(*_: object) -> None:
        raise RuntimeError("lost connection")

    with monkeypatch.context() as broken:
        broken.setattr(VerdictService, "add", fail)
        assert cancel(platform, progress).status == 500
    run = cancel(platform, progress).json["run"]
    assert (run["state"], run["counts"]["canceled"]) == ("canceled", 1)


def test_a_run_whose_execution_was_lost_is_closed_once_its_completions_are_decided(
    platform: Platform, task_id: str
) -> None:
    progress = start(platform, task_id)
    platform.grade({**progress, "run_id": new_id("run")})  # another run graded them
    assert [run["id"] for run in listed(platform, state="pending")] == [progress["run_id"]]
    assert read(platform, progress)["state"] == "completed"
    assert listed(platform, state="pending") == []


def test_another_organisations_run_is_not_there(platform: Platform, task_id: str) -> None:
    progress = start(platform, task_id)
    stranger = platform.new_organization("second")
    path = f"/api/v1/runs/{progress['run_id']}"
    unknown = f"/api/v1/runs/{new_id('run')}"
    for one in (path, unknown, "/api/v1/runs/xyz"):
        assert platform.call("GET", one, api_key=stranger).status == 404
        assert platform.call("POST", f"{one}/cancel", api_key=stranger).status == 404
    assert platform.call("GET", "/api/v1/runs", api_key=stranger).json["runs"] == []
    assert read(platform, progress)["state"] == "pending"


@pytest.mark.parametrize(
    ("role", "status"), [("training_operator", 200), ("grader_owner", 403), ("reviewer", 403)]
)
def test_runs_are_for_those_who_train(
    platform: Platform, task_id: str, role: str, status: int
) -> None:
    progress = start(platform, task_id)
    key = platform.new_key(role)
    path = f"/api/v1/runs/{progress['run_id']}"
    assert platform.call("GET", "/api/v1/runs", api_key=key).status == status
    assert platform.call("GET", path, api_key=key).status == status
    assert platform.call("POST", f"{path}/cancel", api_key=key).status == status


def test_dispatching_again_leaves_the_run_as_it_stands(platform: Platform, task_id: str) -> None:
    platform.submit(task_id, {})
    records = platform.queued()
    platform.dispatch(records)
    (progress,) = platform.runs()
    platform.grade(progress)
    before = read(platform, progress)
    assert platform.dispatch(records) == []
    assert read(platform, progress) == before


def test_no_run_starts_that_was_not_stored(
    platform: Platform, task_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    platform.submit(task_id, {})
    records = platform.queued()
    with monkeypatch.context() as broken:
        broken.setattr(Table, "put_new", refused)
        assert platform.dispatch(records) == [record["messageId"] for record in records]
    assert platform.runs() == []
    assert platform.dispatch(records) == []
    assert len(platform.runs()) == 1


def test_a_round_that_cannot_be_noted_is_graded_all_the_same(
    platform: Platform, task_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    progress = start(platform, task_id)
    with monkeypatch.context() as broken:
        broken.setattr("autotune_platform.runs.repository.RunRepository.change", refused)
        assert platform.grade(progress)["remaining"] == 0
    assert read(platform, progress)["counts"]["scored"] == 1


def test_a_round_costs_one_write_more(
    platform: Platform, grader: LoopbackGrader, task_id: str
) -> None:

    progress = start(platform, task_id, *({} for _ in range(10)))
    written: list[Any] = []

    def note(params: Any, model: Any, **_: Any) -> None:
        if model.name == "UpdateItem" and params["Key"]["pk"]["S"].startswith("run_"):
            written.append(model.name)

    client = permits().budgets._table._client
    client.meta.events.register("before-parameter-build.dynamodb", note)
    assert platform.grade(progress)["remaining"] == 0
    assert len(written) == 1


def test_runs_are_forgotten_after_thirty_days(platform: Platform, task_id: str) -> None:
    progress = start(platform, task_id)
    item = (
        boto3.resource("dynamodb")
        .Table("completions")
        .get_item(Key={"pk": progress["run_id"], "sk": "run"})["Item"]
    )
    from datetime import datetime

    started = datetime.fromisoformat(str(item["started_at"])).timestamp()
    assert int(item["expires_at"]) == int(started) + 30 * 86_400


def refused(*_: object, **__: object) -> None:
    from botocore.exceptions import ClientError

    raise ClientError({"Error": {"Code": "ThrottlingException"}}, "PutItem")
