"""Completions are scored again in place: a later generation, and the verdict before stays."""

from collections import Counter
from datetime import datetime, timedelta
from typing import Any

import boto3
import pytest

from autotune.protocol.ids import derived_id, new_id
from autotune_platform.storage.cursors import encode_cursor
from tests.support.graders import LoopbackGrader, healthy, scoring
from tests.support.killing import Killed, Killer
from tests.support.lambdas import Answer
from tests.support.platform import Platform
from tests.support.projected import counts, decisions, events, open_batches, subscribe

PATH = "/api/v1/completions/rescore"


@pytest.fixture
def task_id(platform: Platform, grader: LoopbackGrader) -> str:
    return platform.new_task(platform.new_grader(grader, capabilities={"maxBatchSize": 50}))


@pytest.fixture
def webhook_id(platform: Platform) -> str:
    return subscribe(platform.me()["organizationId"])


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autotune.protocol.retry.time.sleep", lambda _: None)


def table() -> Any:
    return boto3.resource("dynamodb").Table("completions")


def failed(platform: Platform, grader: LoopbackGrader, task_id: str, size: int = 3) -> Any:
    """Submit a batch whose grader fails for every completion, and mend the grader."""
    grader.disease = scoring(2)
    accepted = platform.submit(task_id, *({"prompt": str(n)} for n in range(size))).json
    platform.score_everything()
    platform.project()
    grader.disease = healthy
    return accepted


def rescore(platform: Platform, key: str | None = None, **body: Any) -> Answer:
    headers = {"idempotency-key": key} if key else None
    return platform.call("POST", PATH, body, headers=headers)


def score(platform: Platform, completion_id: str, generation: int | None = None) -> Answer:
    query = {} if generation is None else {"generation": generation}
    return platform.call("GET", f"/api/v1/completions/{completion_id}/score", query=query)


def states(platform: Platform, batch_id: str) -> list[str]:
    return [verdict["state"] for verdict in platform.batch(batch_id)["verdicts"]]


def listed(platform: Platform, task_id: str) -> Counter[str]:
    scores = platform.call("GET", "/api/v1/scores", query={"taskId": task_id}).json["scores"]
    return Counter(verdict["state"] for verdict in scores)


def test_a_batch_whose_grader_was_mended_is_scored_again(
    platform: Platform, grader: LoopbackGrader, task_id: str, webhook_id: str
) -> None:
    accepted = failed(platform, grader, task_id)
    batch_id, ids = accepted["batchId"], accepted["completionIds"]
    before = score(platform, ids[0]).json["verdict"]

    answer = rescore(platform, batchId=batch_id)
    assert answer.status == 202
    assert answer.json == {
        "rescored": 3,
        "batches": [{"batchId": batch_id, "generation": 1, "count": 3}],
        "skipped": {},
        "nextToken": None,
    }
    batch = platform.batch(batch_id)
    assert (batch["generation"], batch["counts"]["pending"]) == (1, 3)
    assert [verdict["generation"] for verdict in batch["verdicts"]] == [1, 1, 1]
    pending = score(platform, ids[0]).json["verdict"]
    assert (pending["state"], pending["generation"]) == ("pending", 1)
    assert pending["submittedAt"] > before["submittedAt"]
    assert listed(platform, task_id) == Counter()

    platform.score_everything()
    platform.project()
    assert states(platform, batch_id) == ["scored"] * 3
    assert listed(platform, task_id) == Counter(scored=3)
    after = score(platform, ids[0]).json["verdict"]
    assert (after["state"], after["generation"]) == ("scored", 1)
    assert score(platform, ids[0], generation=1).json["verdict"] == after
    assert score(platform, ids[0], generation=0).json["verdict"] == before
    assert "generation" not in before

    published = events(webhook_id).values()
    kinds = Counter((one["event"], one["data"].get("generation", 0)) for one in published)
    assert kinds == {
        ("score.completed", 0): 3,
        ("score.completed", 1): 3,
        ("batch.completed", 0): 1,
        ("batch.completed", 1): 1,
    }
    again = events(webhook_id)[derived_id("evt", "batch.completed", batch_id, "1")]
    assert again["data"]["counts"] == platform.batch(batch_id)["counts"]


def test_only_what_failed_for_the_reason_is_scored_again(
    platform: Platform, grader: LoopbackGrader, task_id: str
) -> None:
    mixed = [{"metadata": {"value": value}} for value in (0.25, 2)]
    accepted = platform.submit(task_id, *mixed, {"metadata": {"abstain": True}}).json
    platform.score_everything()
    one = {"batchId": accepted["batchId"]}
    nothing = rescore(platform, **one, reasonCodes=["grader_timeout"])
    assert (nothing.json["rescored"], nothing.json["skipped"]) == (0, {"not_asked_for": 3})
    assert rescore(platform, **one, reasonCodes=["item_malformed"]).json["rescored"] == 1
    ids = accepted["completionIds"]
    assert states(platform, accepted["batchId"]) == ["scored", "pending", "abstained"]
    explicit = rescore(platform, completionIds=[*ids, ids[0]]).json
    assert (explicit["rescored"], explicit["skipped"]) == (2, {"pending": 1})
    assert [one["generation"] for one in explicit["batches"]] == [2]
    answer = score(platform, ids[1], generation=2)
    assert (answer.status, answer.json["code"]) == (404, "not_found")
    assert "its latest is 1" in answer.json["detail"]


def test_a_single_completion_is_scored_again_and_published(
    platform: Platform, grader: LoopbackGrader, task_id: str, webhook_id: str
) -> None:
    grader.disease = scoring(2)
    body = {"taskId": task_id, "modelId": "m", "prompt": "p", "response": "r"}
    completion = platform.call("POST", "/api/v1/completions", body).json["completion"]
    platform.score_everything()
    platform.project()
    grader.disease = healthy
    assert rescore(platform, completionIds=[completion["id"]]).json["rescored"] == 1
    platform.score_everything()
    platform.project()
    assert score(platform, completion["id"]).json["verdict"]["state"] == "scored"
    assert len(events(webhook_id)) == 4
    assert sorted(how for *_, how, _, _ in decisions()) == ["failed", "scored"]
    listed = platform.call("GET", "/api/v1/audit", query={"action": "decide_completions"})
    assert [entry.get("generation", 0) for entry in listed.json["entries"]] == [1, 0]


def test_a_task_is_scored_again_page_by_page(
    platform: Platform,
    grader: LoopbackGrader,
    task_id: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for _ in range(3):
        failed(platform, grader, task_id, size=4)
    rescoring = "autotune_platform.completions.rescoring"
    monkeypatch.setattr(f"{rescoring}.MAX_RESCORED_COMPLETIONS", 3)
    monkeypatch.setattr(f"{rescoring}._VERDICTS_AT_A_TIME", 2)
    token, seen = None, []
    for _ in range(20):
        body = {"taskId": task_id, **({"nextToken": token} if token else {})}
        answer = rescore(platform, key="again", **body).json
        seen += [(one["batchId"], one["generation"], one["count"]) for one in answer["batches"]]
        token = answer["nextToken"]
        if token is None:
            break
    assert sorted(count for _, _, count in seen) == [4, 4, 4]
    assert {generation for _, generation, _ in seen} == {1}
    platform.score_everything()
    assert listed(platform, task_id) == Counter(scored=12)


def test_the_same_request_makes_no_second_generation(
    platform: Platform, grader: LoopbackGrader, task_id: str
) -> None:
    accepted = failed(platform, grader, task_id)
    one = {"batchId": accepted["batchId"]}
    first = rescore(platform, key="k", **one)
    assert rescore(platform, key="k", **one).json == first.json
    platform.score_everything()
    assert rescore(platform, key="k", **one).json == first.json
    assert platform.batch(accepted["batchId"])["generation"] == 1
    other = rescore(platform, key="k", **one, states=["scored"])
    assert (other.status, other.json["code"]) == (422, "idempotency_key_reused")
    assert rescore(platform, key="l", **one, states=["scored"]).json["rescored"] == 3


def test_texts_that_are_gone_are_skipped(
    platform: Platform, grader: LoopbackGrader, task_id: str
) -> None:
    accepted = failed(platform, grader, task_id)
    first, second, _ = accepted["completionIds"]
    platform.call("DELETE", f"/api/v1/completions/{first}")
    table().delete_item(Key={"pk": second, "sk": "content"})
    by_batch = rescore(platform, batchId=accepted["batchId"]).json
    assert (by_batch["rescored"], by_batch["skipped"]) == (1, {"text_gone": 2})
    by_id = rescore(platform, completionIds=[first, second]).json
    assert (by_id["rescored"], by_id["skipped"]) == (0, {"text_gone": 2})


def test_what_another_organisation_has_looks_like_nothing(
    platform: Platform, grader: LoopbackGrader, task_id: str
) -> None:
    accepted = failed(platform, grader, task_id)
    platform.api_key = platform.new_organization("second")
    theirs = rescore(platform, completionIds=[accepted["completionIds"][0]])
    nobodys = rescore(platform, completionIds=[new_id("cmp")])
    assert theirs.status == nobodys.status == 422
    assert theirs.json["errors"] == nobodys.json["errors"]
    assert theirs.json["errors"][0]["field"] == "completionIds[0]"
    assert rescore(platform, batchId=accepted["batchId"]).status == 404
    assert rescore(platform, taskId=task_id).status == 404


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "taskId"),
        ({"batchId": new_id("bat"), "taskId": new_id("task")}, "taskId"),
        ({"completionIds": []}, "completionIds"),
        ({"completionIds": [new_id("cmp")] * 1_001}, "completionIds"),
        ({"batchId": "cmp_1"}, "batchId"),
        ({"batchId": new_id("bat"), "deadlineSeconds": 59}, "deadlineSeconds"),
        ({"batchId": new_id("bat"), "states": ["pending"]}, "states[0]"),
    ],
)
def test_bad_input_is_named(platform: Platform, body: dict[str, Any], field: str) -> None:
    answer = rescore(platform, **body)
    assert answer.status == 422
    assert [error["field"] for error in answer.json["errors"]] == [field]


def test_a_token_of_another_list_is_refused(platform: Platform, task_id: str) -> None:
    batch_id = platform.submit(task_id, {}).json["batchId"]
    for body in (
        {"taskId": task_id},
        {"completionIds": platform.submit(task_id, {}).json["completionIds"]},
        {"batchId": batch_id},
    ):
        for token in ("x", encode_cursor("9"), encode_cursor("x", ""), encode_cursor("x")):
            answer = rescore(platform, **body, nextToken=token)
            assert (answer.status, answer.json["errors"][0]["field"]) == (422, "nextToken")


def test_a_batch_has_at_most_so_many_generations(
    platform: Platform, grader: LoopbackGrader, task_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("rescoring", "batch_rescoring"):
        monkeypatch.setattr(f"autotune_platform.completions.{module}.MAX_GENERATIONS", 1)
    accepted = failed(platform, grader, task_id)
    one = {"batchId": accepted["batchId"], "states": ["failed", "scored"]}
    rescore(platform, **one)
    platform.score_everything()
    answer = rescore(platform, **one)
    assert (answer.status, answer.json["limit"]["maximum"]) == (409, 1)
    by_id = rescore(platform, completionIds=accepted["completionIds"]).json
    assert (by_id["rescored"], by_id["skipped"]) == (0, {"too_many_generations": 3})


def test_a_generation_has_its_own_deadline(
    platform: Platform, grader: LoopbackGrader, task_id: str
) -> None:
    accepted = failed(platform, grader, task_id)
    rescore(platform, batchId=accepted["batchId"], deadlineSeconds=120)
    path = f"/api/v1/completions/{accepted['completionIds'][0]}/explanation"
    story = platform.call("GET", path).json
    deadline = datetime.fromisoformat(story["deadlineAt"])
    submitted = datetime.fromisoformat(story["verdict"]["submittedAt"])
    assert deadline - submitted == timedelta(seconds=120)
    assert story["verdict"]["generation"] == 1


def test_what_comes_late_of_the_first_generation_is_counted_once_and_nowhere_else(
    platform: Platform, grader: LoopbackGrader, task_id: str, webhook_id: str
) -> None:
    grader.disease = scoring(2)
    accepted = platform.submit(task_id, {}, {}, {}).json
    platform.score_everything()
    grader.disease = healthy
    rescore(platform, batchId=accepted["batchId"])
    platform.score_everything()
    first, second = platform.verdict_records()
    for records in ([second], [first], [first, second], [second, first]):
        platform.project(records)
    counted = counts("statistics#").values()
    assert [(one["scored"], one["failed"]) for one in counted] == [(3, 3)]
    assert len(decisions()) == 6
    completed = [one for one in events(webhook_id).values() if one["event"] == "batch.completed"]
    assert [one["data"]["generation"] for one in completed] == [1]
    assert completed[0]["data"]["counts"]["scored"] == 3
    assert platform.batch(accepted["batchId"])["counts"]["scored"] == 3


def test_a_run_of_before_decides_nothing_of_a_later_generation(
    platform: Platform, grader: LoopbackGrader, task_id: str
) -> None:
    accepted = platform.submit(task_id, {}, {}).json
    platform.dispatch(platform.queued())
    (old,) = platform.runs()
    platform.call("POST", f"/api/v1/batches/{accepted['batchId']}/cancel")
    rescore(platform, completionIds=accepted["completionIds"])
    asked = len(grader.requests)
    assert platform.grade(old)["remaining"] == 0
    assert len(grader.requests) == asked
    assert states(platform, accepted["batchId"]) == ["pending", "pending"]
    platform.score_everything()
    assert len(platform.runs()) == 2
    assert states(platform, accepted["batchId"]) == ["scored", "scored"]


@pytest.mark.usefixtures("due_at_once")
@pytest.mark.parametrize("repeats", [True, False])
def test_a_crash_at_any_step_is_made_good(
    platform: Platform,
    grader: LoopbackGrader,
    task_id: str,
    webhook_id: str,
    repeats: bool,
) -> None:
    """Before each call of AWS, and so after each."""
    killer = Killer()
    for step in range(60):
        killer.spare()
        accepted = failed(platform, grader, task_id)
        batch_id = accepted["batchId"]
        request = {"key": f"{step}", "batchId": batch_id}
        killer.kill("before-call", after=step)
        try:
            answer = rescore(platform, **request)
        except Killed:
            answer = None
        killer.spare()
        if repeats and (answer is None or answer.status != 202):
            assert rescore(platform, **request).json["rescored"] == 3
        platform.operate("sweep_batches")
        again = platform.batch(batch_id).get("generation", 0)
        platform.score_everything()
        platform.project()
        platform.operate("sweep_batches")
        assert open_batches() == set()
        assert states(platform, batch_id) == ["scored" if again else "failed"] * 3, step
        assert again or not repeats
        found = [
            (one["data"].get("generation", 0), one["data"]["counts"]["scored"])
            for one in events(webhook_id).values()
            if one["event"] == "batch.completed" and one["data"]["batchId"] == batch_id
        ]
        assert sorted(found) == ([(0, 0), (1, 3)] if again else [(0, 0)])
        in_index = [
            item["sk"]
            for completion_id in accepted["completionIds"]
            for item in table().query(
                KeyConditionExpression=boto3.dynamodb.conditions.Key("pk").eq(completion_id)
            )["Items"]
            if "score_shard" in item
        ]
        assert len(in_index) == 3
        assert all(key.startswith("verdict#1#") == bool(again) for key in in_index)
        if answer is not None and answer.status == 202:
            break
    else:
        pytest.fail("it never ends")
    made = counts("statistics#").values()
    decided = Counter(how for *_, how, _, _ in decisions())
    assert sum(one["scored"] for one in made) == decided["scored"]
    assert sum(one["failed"] for one in made) == decided["failed"]
