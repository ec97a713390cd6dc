"""Texts go when their time is over, or when they are told to; verdicts stay."""

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest

from functions.scoring import sweep_batches
from tests.support.clock import TurnedClock
from tests.support.graders import LoopbackGrader
from tests.support.lambdas import handler
from tests.support.platform import Platform
from tests.support.tables import stream_records

DAY = 86_400
LARGE = "x" * 200 + "PRIVATE " + "".join(chr(256 + n * 7919 % 40_000) for n in range(400_000))


@pytest.fixture
def grader_id(platform: Platform, grader: LoopbackGrader) -> str:
    return platform.new_grader(grader, capabilities={"maxBatchSize": 10})


@pytest.fixture
def task_id(platform: Platform, grader_id: str) -> str:
    return platform.new_task(grader_id, retentionDays=2)


def content_of(completion_id: str) -> Any:
    table = boto3.resource("dynamodb").Table("completions")
    return table.get_item(Key={"pk": completion_id, "sk": "content"}).get("Item")


def expire(*completion_ids: str) -> None:
    """Let texts have expired: nobody has removed them yet."""
    table = boto3.resource("dynamodb").Table("completions")
    for completion_id in completion_ids:
        table.update_item(
            Key={"pk": completion_id, "sk": "content"},
            UpdateExpression="SET expires_at = :past, created_at = :before",
            ExpressionAttributeValues={
                ":past": int(time.time()) - 1,
                ":before": (datetime.now(UTC) - timedelta(days=30)).isoformat(),
            },
        )


def remove(*completion_ids: str) -> None:
    """Remove what has expired, as the table's time to live does."""
    table = boto3.resource("dynamodb").Table("completions")
    for completion_id in completion_ids:
        table.delete_item(Key={"pk": completion_id, "sk": "content"})


def removal(completion_id: str, sk: str = "content", event: str = "REMOVE") -> dict[str, Any]:
    """A record of DynamoDB Streams with view type NEW_IMAGE, as the time to live writes it."""
    return {
        "eventID": "1",
        "eventName": event,
        "eventVersion": "1.1",
        "eventSource": "aws:dynamodb",
        "awsRegion": "us-east-1",
        "userIdentity": {"type": "Service", "principalId": "dynamodb.amazonaws.com"},
        "dynamodb": {
            "ApproximateCreationDateTime": 1_800_000_000,
            "Keys": {"pk": {"S": completion_id}, "sk": {"S": sk}},
            "SequenceNumber": "1",
            "SizeBytes": 40,
            "StreamViewType": "NEW_IMAGE",
        },
    }


def objects() -> set[str]:
    listed = boto3.client("s3").list_objects_v2(Bucket="content").get("Contents", [])
    return {one["Key"] for one in listed}


def test_retention_is_fixed_when_a_completion_is_submitted(
    platform: Platform, task_id: str
) -> None:
    first = platform.submit(task_id, {}).json
    (completion_id,) = first["completionIds"]
    created = datetime.fromisoformat(first["createdAt"])
    lifted = platform.call("PATCH", f"/api/v1/tasks/{task_id}", {"retentionDays": None})
    assert lifted.json["task"].get("retentionDays") is None
    (later,) = platform.submit(task_id, {}).json["completionIds"]
    assert content_of(completion_id)["expires_at"] == int(created.timestamp()) + 2 * DAY
    assert "expires_at" not in content_of(later)


@pytest.mark.parametrize(
    ("task", "seconds"),
    [
        ({}, 7 * DAY),
        ({"retentionDays": 2}, 2 * DAY),
        ({"retentionDays": 2, "deadlineSeconds": 3 * DAY}, 2 * DAY),
        ({"retentionDays": 2, "deadlineSeconds": 60}, 60),
        ({"retentionDays": 3_650}, 7 * DAY),
    ],
)
def test_no_deadline_is_beyond_retention(
    platform: Platform, grader_id: str, task: dict[str, int], seconds: int
) -> None:
    accepted = platform.submit(platform.new_task(grader_id, **task), {}).json
    assert content_of(accepted["completionIds"][0])["deadline_seconds"] == seconds


@pytest.mark.parametrize("days", [0, 3_651, 1.5, "7"])
def test_retention_has_a_range(platform: Platform, grader_id: str, days: Any) -> None:
    body = {"name": "t", "graderId": grader_id, "retentionDays": days}
    answer = platform.call("POST", "/api/v1/tasks", body)
    assert (answer.status, list(answer.fields)) == (422, ["retentionDays"])


@pytest.mark.parametrize("removed", [False, True])
def test_what_has_expired_is_gone_at_once_and_its_verdict_stays(
    platform: Platform, task_id: str, *, removed: bool
) -> None:
    accepted = platform.submit(task_id, {"prompt": "PRIVATE"}).json
    (completion_id,) = accepted["completionIds"]
    platform.score_everything()
    path = f"/api/v1/completions/{completion_id}"
    before = platform.call("GET", f"{path}/score").json
    assert platform.call("GET", path).json["completion"]["prompt"] == "PRIVATE"
    expire(completion_id)
    if removed:
        remove(completion_id)

    assert platform.call("GET", path).status == 404
    after = platform.call("GET", f"{path}/score").json
    assert after == before
    assert after["verdict"]["state"] == "scored"
    assert platform.call("POST", f"{path}/cancel").json == before
    query = {"taskId": task_id, "include": "completion"}
    (listed,) = platform.call("GET", "/api/v1/scores", query=query).json["scores"]
    assert (listed["state"], listed.get("completion")) == ("scored", None)
    assert platform.batch(accepted["batchId"])["counts"]["scored"] == 1
    other = platform.new_organization("second")
    for method, suffix in [("GET", ""), ("GET", "/score"), ("POST", "/cancel"), ("DELETE", "")]:
        assert platform.call(method, path + suffix, api_key=other).status == 404


def test_a_run_that_comes_too_late_for_a_text_tells_the_deadline(
    platform: Platform, grader: LoopbackGrader, task_id: str
) -> None:
    accepted = platform.submit(task_id, {}, {}).json
    platform.dispatch(platform.queued())
    expire(accepted["completionIds"][0])
    (run,) = platform.runs()
    assert platform.grade(run)["remaining"] == 0
    first, second = platform.batch(accepted["batchId"])["verdicts"]
    assert (first["state"], first["reasonCode"]) == ("failed", "deadline_exceeded")
    assert second["state"] == "scored"


def test_a_batch_whose_texts_are_gone_unscored_ends(
    platform: Platform, task_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autotune_platform.completions.submission.FIRST_SWEEP_AFTER", timedelta(0))
    monkeypatch.setattr("autotune_platform.scoring.sweeper._wait", lambda _: timedelta(0))
    accepted = platform.submit(task_id, {}, {}).json
    platform.queued()
    remove(*accepted["completionIds"])

    sweep_batches.parts().recovery.clock = TurnedClock(timedelta(days=2, seconds=1))
    assert platform.operate("sweep_batches")["redriven"] == 1
    batch = platform.batch(accepted["batchId"])
    assert batch["counts"]["failed"] == 2
    assert {one["reasonCode"] for one in batch["verdicts"]} == {"deadline_exceeded"}
    assert [one.get("modelId") for one in batch["verdicts"]] == [None, None]
    assert platform.queued() == []
    assert platform.operate("sweep_batches")["closed"] == 1


def test_large_texts_go_with_their_items(platform: Platform, task_id: str) -> None:
    accepted = platform.submit(task_id, {"response": LARGE}, {}).json
    large, small = accepted["completionIds"]
    assert objects() == {f"content/{large}"}
    assert content_of(large)["body_key"] == f"content/{large}"
    forget = handler("functions.projections.follow_changes")
    other_records = [
        removal(large, "verdict#grd_x#1"),
        removal(large, event="MODIFY"),
        removal(large, event="INSERT"),
    ]
    assert forget({"Records": other_records}, None) == {"batchItemFailures": []}
    assert objects() == {f"content/{large}"}
    for _ in range(2):
        forget({"Records": [removal(large), removal(small)]}, None)
        assert objects() == set()


def test_what_the_stream_tells_of_a_removal_is_enough(platform: Platform, task_id: str) -> None:
    (large,) = platform.submit(task_id, {"response": LARGE}).json["completionIds"]
    remove(large)
    records = [one for one in stream_records("completions") if one["eventName"] == "REMOVE"]
    handler("functions.projections.follow_changes")({"Records": records}, None)
    assert objects() == set()


def test_what_could_not_be_deleted_is_delivered_again(
    platform: Platform, task_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from autotune_platform.runtime import clients

    class Refusing:
        def delete_objects(self, **_: Any) -> dict[str, Any]:
            return {"Errors": [{"Key": "k", "Code": "SlowDown"}]}

    monkeypatch.setattr(clients, "s3", Refusing)
    records = [removal(platform.submit(task_id, {}).json["completionIds"][0])]
    with pytest.raises(Exception, match="busy"):
        handler("functions.projections.follow_changes")({"Records": records}, None)


def test_the_texts_of_a_batch_are_deleted_and_what_is_pending_is_canceled(
    platform: Platform, grader: LoopbackGrader, task_id: str
) -> None:
    accepted = platform.submit(task_id, {"response": LARGE}, {}, {}).json
    platform.dispatch(platform.queued())
    (run,) = platform.runs()
    ids = accepted["completionIds"]
    platform.grade({**run, "completion_ids": ids[:2], "remaining": 2})
    path = f"/api/v1/batches/{accepted['batchId']}"
    before = platform.batch(accepted["batchId"])
    for _ in range(2):
        assert platform.call("DELETE", f"{path}/content").status == 204
        after = platform.batch(accepted["batchId"])
        assert after["verdicts"][:2] == before["verdicts"][:2]
        assert after["counts"] == {**before["counts"], "pending": 0, "canceled": 1}
    assert objects() == set()
    asked = len(grader.requests)
    platform.grade(run)
    assert len(grader.requests) == asked
    for completion_id in ids:
        assert platform.call("GET", f"/api/v1/completions/{completion_id}").status == 404
        assert platform.call("GET", f"/api/v1/completions/{completion_id}/score").status == 200
        assert bytes(content_of(completion_id)["body"]) == b""


def test_only_who_may_delete_deletes_the_texts_of_a_batch(platform: Platform, task_id: str) -> None:
    accepted = platform.submit(task_id, {}).json
    path = f"/api/v1/batches/{accepted['batchId']}/content"
    assert platform.call("DELETE", path, api_key=platform.new_organization("2")).status == 404
    assert platform.call("DELETE", path, api_key=platform.new_key("reviewer")).status == 403
    assert platform.call("DELETE", "/api/v1/batches/bat_x/content").status == 404
    (completion_id,) = accepted["completionIds"]
    assert platform.call("GET", f"/api/v1/completions/{completion_id}").status == 200
