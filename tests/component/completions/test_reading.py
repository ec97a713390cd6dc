"""Completions, batches and scores are read back, by their organisation only."""

import json
import threading
import time
from typing import Any

import pytest

from autotune.protocol.ids import new_id
from autotune_platform.runtime import clients
from tests.support.graders import Exchange, LoopbackGrader
from tests.support.platform import Platform


@pytest.fixture
def task_id(platform: Platform, grader: LoopbackGrader) -> str:
    return platform.new_task(platform.new_grader(grader, capabilities={"maxBatchSize": 50}))


def test_a_pending_completion_has_neither_score_nor_reason(
    platform: Platform, task_id: str
) -> None:
    (completion_id,) = platform.submit(task_id, {}).json["completionIds"]
    verdict = platform.call("GET", f"/api/v1/completions/{completion_id}/score").json["verdict"]
    assert verdict["state"] == "pending"
    assert verdict["score"] is None
    assert verdict["reasonCode"] is None


def test_waiting_returns_as_soon_as_there_is_a_verdict(platform: Platform, task_id: str) -> None:
    (completion_id,) = platform.submit(task_id, {}).json["completionIds"]
    platform.dispatch(platform.queued())
    (progress,) = platform.runs()
    later = threading.Timer(0.5, platform.grade, [progress])
    later.start()
    started = time.monotonic()
    answer = platform.call("GET", f"/api/v1/completions/{completion_id}/score", query={"wait": 15})
    later.join()
    assert answer.json["verdict"]["state"] == "scored"
    assert time.monotonic() - started < 10


def test_waiting_for_a_batch_reads_its_verdicts_at_the_start_and_at_the_end(
    platform: Platform, task_id: str
) -> None:
    batch_id = platform.submit(task_id, *[{}] * 30).json["batchId"]
    read: list[int] = []

    def count(params: dict[str, Any], **_: Any) -> None:
        asked = json.loads(params["body"])["RequestItems"]
        read.extend(len(of_table["Keys"]) for of_table in asked.values())

    events = clients.dynamodb().meta.events
    events.register("before-call.dynamodb.BatchGetItem", count)
    answer = platform.call("GET", f"/api/v1/batches/{batch_id}", query={"wait": 1})
    assert answer.json["counts"]["pending"] == 30
    first, *between, last = read
    assert (first, last) == (30, 30)
    assert between
    assert set(between) == {1}


@pytest.mark.parametrize("wait", ["21", "-1", "soon", "1.5"])
def test_a_wait_outside_its_range_is_named(platform: Platform, task_id: str, wait: str) -> None:
    batch_id = platform.submit(task_id, {}).json["batchId"]
    answer = platform.call("GET", f"/api/v1/batches/{batch_id}", query={"wait": wait})
    assert answer.status == 422
    assert "wait" in answer.fields


def test_a_batch_always_adds_up(platform: Platform, grader: LoopbackGrader, task_id: str) -> None:
    accepted = platform.submit(task_id, {}, {"metadata": {"abstain": True}}, {}, {}).json
    pending, canceled = accepted["completionIds"][2:]
    platform.dispatch(platform.queued())
    (progress,) = platform.runs()
    platform.grade({**progress, "completion_ids": progress["completion_ids"][:2], "remaining": 2})
    platform.call("DELETE", f"/api/v1/completions/{canceled}")

    batch = platform.batch(accepted["batchId"])

    counts = batch["counts"]
    assert counts["expected"] == 4 == sum(counts.values()) - counts["expected"]
    assert [verdict["state"] for verdict in batch["verdicts"]] == [
        "scored",
        "abstained",
        "pending",
        "canceled",
    ]
    assert batch["verdicts"][2]["completionId"] == pending


def test_deleting_removes_the_text_and_keeps_the_verdict(
    platform: Platform, grader: LoopbackGrader, task_id: str
) -> None:
    accepted = platform.submit(task_id, {"prompt": "PRIVATE"}).json
    (completion_id,) = accepted["completionIds"]
    platform.score_everything()
    path = f"/api/v1/completions/{completion_id}"
    assert platform.call("DELETE", path).status == 204
    assert platform.call("GET", path).status == 404
    assert platform.call("DELETE", path).status == 404
    assert platform.batch(accepted["batchId"])["counts"]["scored"] == 1


def test_a_canceled_completion_is_not_graded(
    platform: Platform, grader: LoopbackGrader, task_id: str
) -> None:
    accepted = platform.submit(task_id, {}, {}).json
    platform.call("DELETE", f"/api/v1/completions/{accepted['completionIds'][0]}")
    platform.score_everything()
    assert grader.asked_ids == accepted["completionIds"][1:]
    assert platform.batch(accepted["batchId"])["counts"]["canceled"] == 1


def test_another_organisation_finds_nothing(platform: Platform, task_id: str) -> None:
    accepted = platform.submit(task_id, {}).json
    (completion_id,) = accepted["completionIds"]
    platform.score_everything()
    other = platform.new_organization("second")
    for method, path in [
        ("GET", f"/api/v1/completions/{completion_id}"),
        ("DELETE", f"/api/v1/completions/{completion_id}"),
        ("GET", f"/api/v1/completions/{completion_id}/score"),
        ("GET", f"/api/v1/batches/{accepted['batchId']}"),
    ]:
        answer = platform.call(method, path, api_key=other)
        assert (answer.status, answer.json["code"]) == (404, "not_found")
    listed = platform.call("GET", "/api/v1/scores", query={"taskId": task_id}, api_key=other)
    unknown = platform.call(
        "GET", "/api/v1/scores", query={"taskId": new_id("task")}, api_key=other
    )
    assert (listed.status, unknown.status) == (404, 404)
    assert listed.json["title"] == unknown.json["title"]


def listed(platform: Platform, task_id: str, **query: object) -> list[dict]:
    found: list[dict] = []
    while True:
        page = platform.call("GET", "/api/v1/scores", query={"taskId": task_id, **query}).json
        assert len(page["scores"]) <= int(query.get("limit", 50))
        found += page["scores"]
        if not page.get("nextToken"):
            return found
        query["nextToken"] = page["nextToken"]


@pytest.mark.parametrize("limit", [1, 7, 40, 200])
def test_a_tasks_scores_are_listed_once_each_on_pages_of_any_size(
    platform: Platform, task_id: str, limit: int
) -> None:
    ids = platform.submit(task_id, *({"prompt": str(n)} for n in range(40))).json["completionIds"]
    platform.score_everything()
    scores = listed(platform, task_id, limit=limit)
    assert sorted(score["completionId"] for score in scores) == sorted(ids)
    assert all(score.get("completion") is None for score in scores)


def test_scores_are_listed_by_state(platform: Platform, task_id: str) -> None:
    platform.submit(task_id, *({"metadata": {"abstain": n % 3 == 0}} for n in range(30)))
    platform.score_everything()
    assert len(listed(platform, task_id, state="abstained", limit=3)) == 10
    assert len(listed(platform, task_id, state="scored", limit=3)) == 20
    assert listed(platform, task_id, state="failed") == []


def test_scores_come_with_their_completions_on_request(platform: Platform, task_id: str) -> None:
    sent = {"prompt": "p7", "response": "r7", "metadata": {"answer": "42"}}
    platform.submit(task_id, sent)
    platform.score_everything()
    (score,) = listed(platform, task_id, include="completion")
    assert score["completion"].items() >= sent.items()
    assert score["score"]["value"] == 0.5


def test_pages_and_batches_fit_a_response_whatever_graders_say(
    platform: Platform, grader: LoopbackGrader
) -> None:
    def verbose(exchange: Exchange) -> None:
        dimensions = [{"name": f"{n}" * 100, "value": 0.5} for n in range(10)]
        for item in exchange.items:
            item["score"] |= {"reasoning": '"' * 13_000, "dimensions": dimensions}

    grader_id = platform.new_grader(grader, capabilities={"maxBatchSize": 50}, shareReasoning=True)
    task_id = platform.new_task(grader_id)
    grader.disease = verbose
    completions = [{"metadata": {"m": '"' * 30_000}} for _ in range(70)]
    batches = [platform.submit(task_id, *completions).json["batchId"] for _ in range(3)]
    platform.score_everything()
    for batch_id in batches:
        batch = platform.call("GET", f"/api/v1/batches/{batch_id}")
        assert len(json.dumps(batch.text)) < 6_000_000
        assert batch.json["counts"]["scored"] == 70
    query: dict[str, object] = {"taskId": task_id, "include": "completion", "limit": 200}
    page = platform.call("GET", "/api/v1/scores", query=query)
    assert len(json.dumps(page.text)) < 6_000_000
    assert page.json["nextToken"]


def test_a_deletion_that_broke_half_way_is_finished_by_its_repetition(
    platform: Platform, task_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from autotune_platform.storage.table import Table

    (completion_id,) = platform.submit(task_id, {"prompt": "PRIVATE"}).json["completionIds"]
    path = f"/api/v1/completions/{completion_id}"

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("lost connection")

    with monkeypatch.context() as broken:
        broken.setattr(Table, "update", fail)
        assert platform.call("DELETE", path).status == 500
    assert platform.call("DELETE", path).status == 204
    assert platform.call("GET", path).status == 404


def test_large_completions_make_short_pages(platform: Platform, task_id: str) -> None:
    for n in range(4):
        platform.submit(task_id, {"prompt": str(n), "response": "x" * 1_500_000})
    platform.score_everything()
    first = platform.call(
        "GET", "/api/v1/scores", query={"taskId": task_id, "include": "completion"}
    )
    assert len(first.text) < 6_000_000
    assert first.json["nextToken"]
    assert len(listed(platform, task_id, include="completion")) == 4


def test_the_scores_of_a_deleted_task_stay(platform: Platform, task_id: str) -> None:
    platform.submit(task_id, {})
    platform.score_everything()
    platform.call("DELETE", f"/api/v1/tasks/{task_id}")
    assert len(listed(platform, task_id)) == 1


def test_what_is_no_id_is_told_what_one_looks_like(platform: Platform) -> None:
    answer = platform.call("GET", "/api/v1/scores", query={"taskId": "xyz"})
    assert (answer.status, answer.fields) == (422, {"taskId": "an id such as task_…"})
    answer = platform.call("POST", "/api/v1/tasks", {"name": "t", "graderId": "xyz"})
    assert answer.fields == {"graderId": "an id such as grd_…"}
