"""What is lost on its way is found and driven again; what cannot be scored ends failed."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from autotune_platform.completions.models import Batch
from autotune_platform.completions.open_batches import OpenBatches
from autotune_platform.runtime.environment.completions import SubmissionEnvironment
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.scoring.recovery import BatchRecovery
from autotune_platform.wiring.completions import CompletionParts
from functions.scoring import sweep_batches
from tests.component.operations.sweeping import (
    NOTHING,
    in_two_rounds,
    opened,
    past_the_deadline,
    rate_limited,
)
from tests.support.clock import TurnedClock
from tests.support.graders import LoopbackGrader, loopback_grader
from tests.support.lambdas import forget_processes
from tests.support.platform import Platform

pytestmark = pytest.mark.usefixtures("due_at_once")


def test_a_decided_batch_is_closed_and_looked_after_no_more(
    platform: Platform, task_id: str
) -> None:
    platform.submit(task_id, {}, {})
    platform.score_everything()
    assert platform.operate("sweep_batches") == {**NOTHING, "closed": 1}
    assert platform.operate("sweep_batches") == NOTHING


def test_a_batch_that_is_counted_whole_needs_no_sweep(platform: Platform, task_id: str) -> None:
    in_two_rounds(platform, task_id)
    platform.submit(task_id, {})
    platform.score_everything()
    first, *rest = platform.verdict_records()
    platform.project([first])
    assert len(opened()) == 2
    platform.project(rest)
    assert opened() == []
    platform.project([first, *rest])
    assert opened() == []
    assert platform.operate("sweep_batches") == NOTHING


def test_a_batch_whose_closing_was_lost_is_closed_by_a_sweep(
    platform: Platform, task_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    platform.submit(task_id, {}, {})
    platform.score_everything()

    def lost(*_: Any) -> None:
        raise ClientError({"Error": {"Code": "ThrottlingException"}}, "UpdateItem")

    with monkeypatch.context() as broken:
        broken.setattr(OpenBatches, "close", lost)
        platform.project()
    assert platform.operate("sweep_batches") == {**NOTHING, "closed": 1}
    assert platform.operate("sweep_batches") == NOTHING


def test_what_was_lost_is_driven_again_in_a_new_run(
    platform: Platform, grader: LoopbackGrader, task_id: str
) -> None:
    accepted = platform.submit(task_id, {}, {}, {}).json
    platform.dispatch(platform.queued())
    (lost,) = platform.runs()
    platform.grade({**lost, "completion_ids": lost["completion_ids"][:1], "remaining": 1})

    assert platform.operate("sweep_batches") == {**NOTHING, "redriven": 1}
    platform.dispatch(platform.queued())
    again = next(run for run in platform.runs() if run != lost)
    assert again["completion_ids"] == lost["completion_ids"][1:]
    platform.grade(again)

    assert platform.batch(accepted["batchId"])["counts"]["scored"] == 3
    assert sorted(grader.asked_ids) == sorted(accepted["completionIds"])
    assert platform.operate("sweep_batches") == {**NOTHING, "closed": 1}


def test_what_only_waits_its_turn_is_not_driven_again(platform: Platform, task_id: str) -> None:
    platform.submit(task_id, {})
    assert platform.operate("sweep_batches") == {**NOTHING, "postponed": 1}
    assert len(platform.queued()) == 1


def test_a_run_that_sleeps_on_purpose_is_left_alone(
    platform: Platform, grader: LoopbackGrader, task_id: str
) -> None:
    grader.disease = rate_limited
    platform.submit(task_id, {})
    platform.dispatch(platform.queued())
    (progress,) = platform.runs()
    assert platform.grade(progress)["sleep_seconds"] >= 600
    assert platform.operate("sweep_batches") == NOTHING


def test_what_sleeps_is_not_driven_although_a_word_came_for_its_batch(
    platform: Platform, grader: LoopbackGrader, task_id: str
) -> None:
    grader.disease = rate_limited
    accepted = platform.submit(task_id, {}).json
    platform.dispatch(platform.queued())
    (progress,) = platform.runs()
    platform.grade(progress)
    batches = CompletionParts(SubmissionEnvironment.parse()).open_batches
    for _ in range(6):  # as often as would end it
        batches.have_looked_at([accepted["batchId"]])
        assert platform.operate("sweep_batches") == {**NOTHING, "postponed": 1}
    assert platform.operate("sweep_batches") == NOTHING  # not before the run is to be awake
    assert platform.queued() == []


def test_no_word_for_a_batch_puts_its_sweep_off(
    platform: Platform, task_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    accepted = platform.submit(task_id, {}, {}).json
    later = timedelta(minutes=3)
    for module in ("service", "open_batches"):
        monkeypatch.setattr(f"autotune_platform.completions.{module}.FIRST_SWEEP_AFTER", later)
    batches = CompletionParts(SubmissionEnvironment.parse()).open_batches
    batches.have_looked_at([accepted["batchId"]])
    path = f"/api/v1/completions/{accepted['completionIds'][0]}/cancel"
    assert platform.call("POST", path).status == 200
    platform.queued()  # lost
    assert platform.operate("sweep_batches") == {**NOTHING, "redriven": 1}


def test_one_batch_that_cannot_be_looked_after_holds_up_no_other(
    platform: Platform, task_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad, good = (platform.submit(task_id, {}).json["batchId"] for _ in range(2))
    platform.score_everything()
    examine = BatchRecovery.examine

    def failing(self: BatchRecovery, batch: Batch) -> tuple[list[str], dict[str, datetime]]:
        if batch.id == bad:
            raise UnavailableError("busy", retry_after_seconds=1)
        return examine(self, batch)

    monkeypatch.setattr(BatchRecovery, "examine", failing)
    assert platform.operate("sweep_batches") == {**NOTHING, "closed": 1, "postponed": 1}
    stored = boto3.resource("dynamodb").Table("completions")
    assert "due_at" not in stored.get_item(Key={"pk": good, "sk": "batch"})["Item"]


def test_an_error_of_ours_is_told_and_does_not_come_first_again(
    platform: Platform, task_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad, good = (platform.submit(task_id, {}).json["batchId"] for _ in range(2))
    platform.score_everything()
    examine = BatchRecovery.examine

    def broken(self: BatchRecovery, batch: Batch) -> tuple[list[str], dict[str, datetime]]:
        if batch.id == bad:
            raise KeyError("a mistake")
        return examine(self, batch)

    later = timedelta(minutes=3)
    monkeypatch.setattr("autotune_platform.scoring.sweeper._wait", lambda _: later)
    with monkeypatch.context() as patch:
        patch.setattr(BatchRecovery, "examine", broken)
        with pytest.raises(KeyError):
            platform.operate("sweep_batches")
    assert opened() == [bad]
    stored = boto3.resource("dynamodb").Table("completions")
    assert "due_at" not in stored.get_item(Key={"pk": good, "sk": "batch"})["Item"]
    assert platform.operate("sweep_batches") == NOTHING
    sweep_batches.parts().sweeper.clock = TurnedClock(later)
    assert platform.operate("sweep_batches") == {**NOTHING, "closed": 1}


def test_what_cannot_be_scored_is_redriven_until_its_deadline(
    platform: Platform, task_id: str
) -> None:
    accepted = platform.submit(task_id, {}, {}).json
    platform.queued()
    for _ in range(12):
        assert platform.operate("sweep_batches") == {**NOTHING, "redriven": 1}
        platform.queued()
    assert platform.batch(accepted["batchId"])["counts"]["pending"] == 2
    past_the_deadline()
    assert platform.operate("sweep_batches") == {**NOTHING, "failed": 1}

    batch = platform.batch(accepted["batchId"])
    assert batch["counts"]["failed"] == 2
    assert {verdict["reasonCode"] for verdict in batch["verdicts"]} == {"deadline_exceeded"}
    assert platform.operate("sweep_batches") == NOTHING


def test_a_deadline_holds_although_the_queue_is_long(platform: Platform, task_id: str) -> None:
    accepted = platform.submit(task_id, {}).json
    platform.submit(task_id, {})
    past_the_deadline()
    assert platform.operate("sweep_batches") == {**NOTHING, "failed": 2}
    assert platform.batch(accepted["batchId"])["counts"]["failed"] == 1


def test_a_trickle_on_the_queue_does_not_hide_what_was_lost(
    platform: Platform, task_id: str
) -> None:
    lost, *_ = (platform.submit(task_id, {}).json["batchId"] for _ in range(3))
    first, second, third = platform.queued()
    an_hour_ago = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
    boto3.resource("dynamodb").Table("completions").update_item(
        Key={"pk": lost, "sk": "batch"},
        UpdateExpression="SET attempted_at = :then",
        ExpressionAttributeValues={":then": an_hour_ago},
    )
    sqs = boto3.client("sqs")
    url = sqs.get_queue_url(QueueName="normal")["QueueUrl"]
    sqs.send_message(QueueUrl=url, MessageBody=third["body"])
    # Nobody knows yet since when the queue's messages wait.
    assert platform.operate("sweep_batches") == {**NOTHING, "postponed": 3}

    assert platform.dispatch([second]) == []
    assert platform.operate("sweep_batches") == {**NOTHING, "redriven": 1, "postponed": 2}
    chunks = [json.loads(record["body"]) for record in platform.queued()]
    assert [chunk["redrive"] for chunk in chunks] == [0, 1]
    assert json.loads(first["body"])["completion_ids"] == chunks[1]["completion_ids"]


def test_of_a_panel_only_members_that_nobody_asks_are_asked_again(
    platform: Platform, grader: LoopbackGrader
) -> None:
    with loopback_grader() as other:
        ids = [platform.new_grader(one) for one in (grader, other)]
        task_id = platform.new_task(graders=[{"graderId": id_} for id_ in ids])
        platform.submit(task_id, {})
        platform.dispatch(platform.queued())
        (asleep,) = [run for run in platform.runs() if run["grader_id"] == ids[0]]
        grader.disease = rate_limited
        platform.grade(asleep)
        assert platform.operate("sweep_batches") == {**NOTHING, "redriven": 1}
    (chunk,) = [json.loads(record["body"]) for record in platform.queued()]
    assert chunk["grader_id"] == ids[1]


def test_what_is_lost_again_and_again_is_alone_in_its_run_before_long(
    platform: Platform, task_id: str
) -> None:
    platform.submit(task_id, *({} for _ in range(8)))
    platform.queued()
    sizes = []
    for _ in range(12):
        platform.operate("sweep_batches")
        before = {run["run_id"] for run in platform.runs()}
        platform.dispatch(platform.queued())
        new = [run for run in platform.runs() if run["run_id"] not in before]
        sizes.append([len(run["completion_ids"]) for run in new])
    assert sizes[0] == [8]
    assert sizes[-1] == [1] * 8


def test_a_batch_that_was_never_accepted_is_nobodys(
    platform: Platform, task_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from autotune_platform.completions.queues import ChunkQueues
    from autotune_platform.runtime.errors import UnavailableError

    def refuse(*_: object, **__: object) -> None:
        raise UnavailableError("the queue is busy")

    with monkeypatch.context() as broken:
        broken.setattr(ChunkQueues, "send", refuse)
        assert platform.submit(task_id, {}).status == 503
    assert platform.operate("sweep_batches") == NOTHING


def test_a_canceled_completion_keeps_a_verdict_that_it_has(
    platform: Platform, grader: LoopbackGrader, task_id: str
) -> None:
    accepted = platform.submit(task_id, {}, {}).json
    first, second = accepted["completionIds"]
    canceled = platform.call("POST", f"/api/v1/completions/{first}/cancel")
    assert canceled.json["verdict"]["state"] == "canceled"
    platform.score_everything()
    assert grader.asked_ids == [second]
    again = platform.call("POST", f"/api/v1/completions/{second}/cancel")
    assert again.json["verdict"]["state"] == "scored"


def test_canceling_a_batch_drops_answers_that_come_later(
    platform: Platform, grader: LoopbackGrader, task_id: str
) -> None:
    accepted = platform.submit(task_id, {}, {}, {}).json
    path = f"/api/v1/batches/{accepted['batchId']}/cancel"

    def overtaken(_: object) -> None:
        assert platform.call("POST", path).json["counts"]["canceled"] == 3

    grader.disease = overtaken
    platform.score_everything()
    counts = platform.batch(accepted["batchId"])["counts"]
    assert (counts["canceled"], counts["scored"]) == (3, 0)
    other = platform.new_organization("second")
    assert platform.call("POST", path, api_key=other).status == 404


def test_what_sleeps_for_one_grader_hides_nothing_of_another(
    platform: Platform, grader: LoopbackGrader
) -> None:
    first = platform.new_task(platform.new_grader(grader), deadlineSeconds=3_600)
    second = platform.new_task(platform.new_grader(grader))
    accepted = platform.submit(first, {}, {"taskId": second}).json
    platform.dispatch(platform.queued())
    runs = {run["completion_ids"][0]: run for run in platform.runs()}
    lost, sleeping = accepted["completionIds"]
    grader.disease = busy
    assert platform.grade(runs[sleeping])["sleep_seconds"] >= 600
    batches = CompletionParts(SubmissionEnvironment.parse()).open_batches
    batches.have_looked_at([accepted["batchId"]])

    assert platform.operate("sweep_batches") == {**NOTHING, "redriven": 1}
    (chunk,) = platform.queued()
    assert lost in chunk["body"]
    assert sleeping not in chunk["body"]

    made = sweep_batches.parts()
    made.sweeper.clock = made.recovery.clock = TurnedClock(timedelta(seconds=3_601))
    batches.have_looked_at([accepted["batchId"]])
    assert platform.operate("sweep_batches") == {**NOTHING, "failed": 1}
    states = [one["state"] for one in platform.batch(accepted["batchId"])["verdicts"]]
    assert states == ["failed", "pending"]


def busy(exchange: Any) -> None:
    exchange.status = 429
    exchange.headers["retry-after"] = "600"


def fill(batch_id: str) -> None:
    """Leave less than a hundred bytes of room in a batch's item."""
    stored = boto3.resource("dynamodb").Table("completions")
    for size in range(409_600, 400_000, -100):
        try:
            stored.update_item(
                Key={"pk": batch_id, "sk": "batch"},
                UpdateExpression="SET filling = :filling",
                ExpressionAttributeValues={":filling": "x" * size},
            )
        except ClientError:
            continue
        return


def test_a_batch_without_room_for_a_sleep_holds_up_no_run(
    platform: Platform, grader: LoopbackGrader, task_id: str
) -> None:
    grader.disease = rate_limited
    accepted = platform.submit(task_id, {}, {}).json
    platform.dispatch(platform.queued())
    fill(accepted["batchId"])
    (run,) = platform.runs()
    left = platform.grade(run)
    assert (left["remaining"], left["attempt"]) == (2, 1)
    assert left["sleep_seconds"] >= 600


def test_more_shards_lose_no_batch_that_is_open(
    platform: Platform, task_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autotune_platform.completions.repository.OPEN_SHARDS", 2)
    forget_processes()
    accepted = [platform.submit(task_id, {}).json["batchId"] for _ in range(6)]
    platform.queued()  # lost
    monkeypatch.setattr("autotune_platform.completions.repository.OPEN_SHARDS", 16)
    forget_processes()
    assert platform.operate("sweep_batches") == {**NOTHING, "redriven": len(accepted)}
    platform.score_everything()
    platform.operate("sweep_batches")
    assert opened() == []
    for batch_id in accepted:
        assert platform.batch(batch_id)["counts"]["scored"] == 1
