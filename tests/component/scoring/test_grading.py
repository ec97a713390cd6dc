"""From submission to verdict, with graders that behave and graders that do not."""

import json

import pytest

from tests.support.graders import Exchange, LoopbackGrader, answering
from tests.support.platform import Platform


def states(batch: dict) -> list[str]:
    return [verdict["state"] for verdict in batch["verdicts"]]


def test_a_batch_is_scored_in_calls_of_the_graders_size(
    platform: Platform, grader: LoopbackGrader
) -> None:
    grader_id = platform.new_grader(grader, capabilities={"maxBatchSize": 4})
    task_id = platform.new_task(grader_id)
    values = [0, 0.25, 0.5, 0.75, 1, 1 / 3, 0.1, 0.2, 0.3]
    accepted = platform.submit(task_id, *({"metadata": {"value": value}} for value in values))
    assert accepted.status == 202

    platform.score_everything()

    batch = platform.batch(accepted.json["batchId"])
    assert batch["counts"] == {
        "expected": 9,
        "scored": 9,
        "abstained": 0,
        "failed": 0,
        "canceled": 0,
        "pending": 0,
    }
    assert [verdict["score"]["value"] for verdict in batch["verdicts"]] == values
    assert [verdict["completionId"] for verdict in batch["verdicts"]] == accepted.json[
        "completionIds"
    ]
    assert sorted(path for path, _ in grader.requests) == ["/score", "/score/batch", "/score/batch"]
    assert {verdict["score"]["graderVersion"] for verdict in batch["verdicts"]} == {"1.0.0"}


def test_abstaining_is_not_a_score(platform: Platform, grader: LoopbackGrader) -> None:
    task_id = platform.new_task(platform.new_grader(grader))
    accepted = platform.submit(task_id, {"metadata": {"abstain": True}})
    platform.score_everything()
    (verdict,) = platform.batch(accepted.json["batchId"])["verdicts"]
    assert verdict["state"] == "abstained"
    assert "score" not in verdict or verdict["score"] is None


def test_grading_again_asks_nobody_and_changes_nothing(
    platform: Platform, grader: LoopbackGrader
) -> None:
    task_id = platform.new_task(platform.new_grader(grader))
    accepted = platform.submit(task_id, {"metadata": {"value": 0.25}}, {"metadata": {"value": 1}})
    platform.score_everything()
    before = platform.batch(accepted.json["batchId"])
    calls = len(grader.requests)

    for progress in platform.runs():
        assert platform.grade(progress)["remaining"] == 0

    assert len(grader.requests) == calls
    assert platform.batch(accepted.json["batchId"]) == before


def test_a_verdict_that_comes_second_is_dropped(platform: Platform, grader: LoopbackGrader) -> None:
    task_id = platform.new_task(platform.new_grader(grader))
    accepted = platform.submit(task_id, {"metadata": {"value": 0.25}})
    platform.dispatch(platform.queued())
    (progress,) = platform.runs()

    def overtaken(exchange: Exchange) -> None:
        grader.disease = lambda _: None
        platform.grade(progress)
        exchange.answer["score"]["value"] = 0.75

    grader.disease = overtaken
    platform.grade(progress)

    (verdict,) = platform.batch(accepted.json["batchId"])["verdicts"]
    assert verdict["score"]["value"] == 0.25


def test_what_there_is_no_time_for_stays_without_a_failed_attempt(
    platform: Platform, grader: LoopbackGrader
) -> None:
    task_id = platform.new_task(platform.new_grader(grader))
    platform.submit(task_id, {}, {})
    platform.dispatch(platform.queued())
    (progress,) = platform.runs()

    left = platform.grade(progress, seconds=10)

    assert left == {**progress, "rounds": 1}
    assert not grader.requests


def test_every_completion_is_asked_once_before_any_is_asked_again(
    platform: Platform, grader: LoopbackGrader
) -> None:
    task_id = platform.new_task(platform.new_grader(grader))
    grader.disease = answering(status=429, headers={"retry-after": "600"})
    ids = platform.submit(task_id, *({} for _ in range(9))).json["completionIds"]
    platform.dispatch(platform.queued())
    (progress,) = platform.runs()
    # Time for the first calls only: the clock jumps once some are under way.
    clock = iter([120.0] * 5)

    class ShortContext:
        def get_remaining_time_in_millis(self) -> int:
            return int(next(clock, 10.0) * 1000)

    from functions.scoring.grade_chunk import lambda_handler

    left = lambda_handler(progress, ShortContext())
    assert (left["remaining"], left["attempt"], left["sleep_seconds"]) == (9, 0, 0)
    assert len(left["completion_ids"]) == 4
    left = platform.grade(left)

    assert sorted(grader.asked_ids) == sorted(ids)
    assert (left["remaining"], left["attempt"], left["sleep_seconds"]) == (9, 1, 600)


def test_a_score_near_zero_is_stored(platform: Platform, grader: LoopbackGrader) -> None:
    task_id = platform.new_task(platform.new_grader(grader))
    values = [1e-320, 1e-200, 1e-131, 1e-127, 0.1 + 0.2]
    accepted = platform.submit(task_id, *({"metadata": {"value": value}} for value in values))
    platform.score_everything()
    verdicts = platform.batch(accepted.json["batchId"])["verdicts"]
    assert [verdict["score"]["value"] for verdict in verdicts] == [0, 0, 0, 1e-127, 0.1 + 0.2]


def test_a_text_that_is_gone_ends_failed(platform: Platform, grader: LoopbackGrader) -> None:
    import random

    import boto3

    task_id = platform.new_task(platform.new_grader(grader))
    noise = "".join(random.Random(1).choices("abcdefghijklmnopqrstuvwxyz0123456789", k=900_000))
    accepted = platform.submit(task_id, {"response": noise}, {})
    s3 = boto3.client("s3")
    (stored,) = s3.list_objects_v2(Bucket="content")["Contents"]
    s3.delete_object(Bucket="content", Key=stored["Key"])

    platform.score_everything()

    batch = platform.batch(accepted.json["batchId"])
    assert states(batch) == ["failed", "scored"]
    assert batch["verdicts"][0]["reasonCode"] == "platform_error"


def test_requests_stay_below_what_graders_have_to_read(
    platform: Platform, grader: LoopbackGrader
) -> None:
    task_id = platform.new_task(platform.new_grader(grader, capabilities={"maxBatchSize": 100}))
    sizes: list[int] = []
    grader.disease = lambda exchange: sizes.append(len(exchange.request_body))
    for _ in range(2):
        platform.submit(task_id, *({"metadata": {"m": "x" * 65_000}} for _ in range(50)))
    platform.score_everything()
    assert sum(sizes) > 6_500_000
    assert max(sizes) < 4_500_000


def test_a_deleted_grader_fails_what_waits_for_it(
    platform: Platform, grader: LoopbackGrader
) -> None:
    grader_id = platform.new_grader(grader)
    accepted = platform.submit(platform.new_task(grader_id), {})
    assert platform.call("DELETE", f"/api/v1/graders/{grader_id}").status == 204
    platform.score_everything()
    (verdict,) = platform.batch(accepted.json["batchId"])["verdicts"]
    assert (verdict["state"], verdict["reasonCode"]) == ("failed", "grader_missing")


def test_the_grader_learns_the_model_only_where_the_task_shares_it(
    platform: Platform, grader: LoopbackGrader
) -> None:
    grader_id = platform.new_grader(grader)
    secretive = platform.new_task(grader_id)
    open_ = platform.new_task(grader_id, shareIdentity=True)
    platform.submit(secretive, {"modelId": "model-x"})
    platform.submit(open_, {"modelId": "model-x"})
    platform.score_everything()
    asked = {one["completion"]["taskId"]: one["completion"] for _, one in grader.requests}
    assert "modelId" not in asked[secretive]
    assert asked[open_]["modelId"] == "model-x"
    assert "first" not in json.dumps(grader.requests)


@pytest.mark.parametrize("share", [True, False])
def test_reasoning_is_kept_only_where_the_owner_shares_it(
    platform: Platform, grader: LoopbackGrader, share: bool
) -> None:
    task_id = platform.new_task(platform.new_grader(grader, shareReasoning=share))

    def reasons(exchange: Exchange) -> None:
        exchange.answer["score"] |= {
            "reasoning": "because",
            "dimensions": [{"name": "style", "value": 0.5, "weight": 1}],
        }

    grader.disease = reasons
    accepted = platform.submit(task_id, {})
    platform.score_everything()
    ids = accepted.json["completionIds"]
    score = platform.call("GET", f"/api/v1/completions/{ids[0]}/score").json["verdict"]["score"]
    assert score.get("reasoning") == ("because" if share else None)
    assert score["dimensions"][0]["name"] == "style"


def test_trouble_of_ours_is_no_verdict(platform: Platform, grader: LoopbackGrader) -> None:
    from tests.support.lambdas import handler

    task_id = platform.new_task(platform.new_grader(grader))
    accepted = platform.submit(task_id, {"metadata": {"value": 1}}, {})
    platform.dispatch(platform.queued())
    (progress,) = platform.runs()
    first = {**progress, "completion_ids": progress["completion_ids"][:1], "remaining": 1}
    platform.grade(first)

    caught = {**progress, "error": {"Error": "Runtime.HandlerError", "Cause": "{}"}}
    assert handler("functions.scoring.fail_run")(caught, None)["remaining"] == 0

    batch = platform.batch(accepted.json["batchId"])
    assert states(batch) == ["scored", "pending"]
