"""What is lost on its way is found and driven again; what cannot be scored ends failed."""

import json
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from autotune.protocol.limits import MAX_DEADLINE_SECONDS
from autotune_platform.completions.models import Batch
from autotune_platform.completions.open_batches import OpenBatches
from autotune_platform.runtime.environment import SubmissionEnvironment
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.scoring.recovery import BatchRecovery
from autotune_platform.verdicts.listing import DecisionLists
from autotune_platform.wiring.completions import CompletionParts
from functions.scoring import sweep_batches
from tests.support.clock import TurnedClock
from tests.support.graders import Exchange, LoopbackGrader, loopback_grader
from tests.support.killing import Killed
from tests.support.platform import Platform
from tests.support.projected import checkpoints, events, everything, forget, subscribe

pytestmark = pytest.mark.usefixtures("due_at_once")

PAST = timedelta(seconds=MAX_DEADLINE_SECONDS + 1)
NOTHING = {"closed": 0, "redriven": 0, "failed": 0, "postponed": 0}


def past_the_deadline() -> None:
    """Let the sweeper's time be that at which no completion is in time any more."""
    made = sweep_batches.parts()
    made.sweeper.clock = made.recovery.clock = TurnedClock(PAST)


def opened() -> list[str]:
    """Return the batches that a sweep is to look at some day."""
    in_years = datetime.now(UTC) + timedelta(days=3_650)
    return sweep_batches.parts().completion_repository.due.due(in_years, limit=100)


def rate_limited(exchange: Exchange) -> None:
    exchange.status = 429
    exchange.headers["retry-after"] = "600"


@pytest.fixture
def task_id(platform: Platform, grader: LoopbackGrader) -> str:
    return platform.new_task(platform.new_grader(grader, capabilities={"maxBatchSize": 50}))


def in_two_rounds(platform: Platform, task_id: str) -> str:
    """Decide a batch of three in two rounds, so that two lists have its verdicts; return its id."""
    accepted = platform.submit(task_id, {}, {"metadata": {"abstain": True}}, {}).json
    platform.dispatch(platform.queued())
    (run,) = platform.runs()
    for some in (run["completion_ids"][:1], run["completion_ids"][1:]):
        platform.grade({**run, "completion_ids": some, "remaining": len(some)})
    batch_id: str = accepted["batchId"]
    return batch_id


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
    assert [chunk["generation"] for chunk in chunks] == [0, 1]
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


def test_what_the_stream_lost_is_made_good_before_a_batch_is_closed(
    platform: Platform, task_id: str
) -> None:
    webhook_id = subscribe(platform.me()["organizationId"])
    in_two_rounds(platform, task_id)
    platform.project(platform.verdict_records()[:1])
    assert platform.operate("sweep_batches") == {**NOTHING, "closed": 1}
    healed = everything(webhook_id)
    assert len(events(webhook_id)) == 4

    forget()
    platform.project()
    assert everything(webhook_id) == healed


def test_what_no_list_had_is_made_good_while_others_of_its_batch_wait(
    platform: Platform, task_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    accepted = platform.submit(task_id, {}, {}, {}).json
    platform.dispatch(platform.queued())
    (run,) = platform.runs()
    some = run["completion_ids"][:2]

    def die(*_: object, **__: object) -> None:
        raise Killed

    with monkeypatch.context() as broken:
        broken.setattr(DecisionLists, "write", die)
        with pytest.raises(Killed):
            platform.grade({**run, "completion_ids": some, "remaining": 2})
    platform.project()
    assert checkpoints() == {}
    assert platform.operate("sweep_batches") == {**NOTHING, "redriven": 1}
    assert checkpoints() == {accepted["batchId"]: {"scored": {0, 1}}}
    platform.operate("sweep_batches")
    assert len(opened()) == 1


def test_a_list_that_was_lost_for_good_is_made_good_as_the_batch_is_closed(
    platform: Platform, task_id: str
) -> None:
    webhook_id = subscribe(platform.me()["organizationId"])
    in_two_rounds(platform, task_id)
    *_, last = platform.verdict_records()
    platform.project([last])
    assert len(opened()) == 1
    assert platform.operate("sweep_batches") == {**NOTHING, "closed": 1}
    assert opened() == []
    (checkpoint,) = checkpoints().values()
    assert checkpoint == {"scored": {0, 2}, "abstained": {1}}
    assert len(events(webhook_id)) == 4


def test_a_batch_is_told_complete_by_the_sweeper_should_nobody_else_have(
    platform: Platform, task_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    platform.submit(task_id, {}, {})
    platform.score_everything()
    with monkeypatch.context() as broken:
        broken.setattr(OpenBatches, "close", lambda *_: None)
        platform.project()
    assert len(opened()) == 1
    late = subscribe(platform.me()["organizationId"])
    assert platform.operate("sweep_batches") == {**NOTHING, "closed": 1}
    assert [event["event"] for event in events(late).values()] == ["batch.completed"]


def test_what_ends_failed_at_the_sweepers_hand_is_counted(platform: Platform, task_id: str) -> None:
    accepted = platform.submit(task_id, {}, {}).json
    past_the_deadline()
    assert platform.operate("sweep_batches") == {**NOTHING, "failed": 1}
    assert checkpoints() == {accepted["batchId"]: {"failed": {0, 1}}}


def test_a_batch_that_cannot_be_made_good_stays_open_and_holds_up_no_other(
    platform: Platform, task_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from autotune_platform.runtime.errors import UnavailableError
    from autotune_platform.webhooks.publisher import EventPublisher

    def refuse(*_: object, **__: object) -> None:
        raise UnavailableError("the queue is busy")

    platform.submit(task_id, {})
    platform.score_everything()
    with monkeypatch.context() as broken:
        broken.setattr(EventPublisher, "publish", refuse)
        assert platform.operate("sweep_batches") == {**NOTHING, "postponed": 1}
    assert platform.operate("sweep_batches") == {**NOTHING, "closed": 1}


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


def test_an_operator_sees_what_is_stuck_and_no_text(platform: Platform, task_id: str) -> None:
    accepted = platform.submit(task_id, {"prompt": "PRIVATE"}, {}).json
    platform.queued()
    (stuck,) = platform.operate("list_stuck")["batches"]
    assert stuck.items() >= {"batchId": accepted["batchId"], "pending": 2, "sweeps": 0}.items()
    assert "PRIVATE" not in str(stuck)
    platform.operate("sweep_batches")
    assert platform.operate("list_stuck")["batches"][0]["sweeps"] == 1


def test_dead_letters_go_back_to_their_queues(platform: Platform, task_id: str) -> None:
    platform.submit(task_id, {})
    (message,) = platform.queued()
    sqs = boto3.client("sqs")
    dead = sqs.get_queue_url(QueueName="normal-dead-letters")["QueueUrl"]
    sqs.send_message(QueueUrl=dead, MessageBody=message["body"])

    woken = sqs.get_queue_url(QueueName="webhooks-dead-letters")["QueueUrl"]
    sqs.send_message(QueueUrl=woken, MessageBody="wake")

    assert platform.operate("redrive_dead_letters") == {
        "moved": {"high": 0, "normal": 1, "low": 0, "webhooks": 1}
    }
    assert [one["body"] for one in platform.queued()] == [message["body"]]
    assert [one["body"] for one in platform.queued("webhooks")] == ["wake"]
    assert platform.queued("normal-dead-letters") == []


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


@pytest.fixture(params=["before it looks", "after it looked"])
def overlapping(
    platform: Platform, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> list[Any]:
    """Have one whole sweep happen while another has read a batch and not yet acted on it."""
    examine = BatchRecovery.examine
    reports: list[Any] = []

    def examine_beside_another(self: BatchRecovery, batch: Batch) -> Any:
        monkeypatch.setattr(BatchRecovery, "examine", examine)
        found = examine(self, batch) if request.param == "after it looked" else None
        reports.append(platform.operate("sweep_batches"))
        return found or examine(self, batch)

    monkeypatch.setattr(BatchRecovery, "examine", examine_beside_another)
    return reports


def test_of_two_sweeps_at_once_one_drives_a_batch_again(
    platform: Platform, task_id: str, overlapping: list[Any]
) -> None:
    accepted = platform.submit(task_id, {}, {}).json
    platform.queued()
    assert platform.operate("sweep_batches")["redriven"] == 0
    assert [report["redriven"] for report in overlapping] == [1]
    (chunk,) = platform.queued()
    platform.dispatch([chunk])
    (run,) = platform.runs()
    assert sorted(run["completion_ids"]) == sorted(accepted["completionIds"])


def test_two_sweeps_at_once_close_a_batch_and_publish_its_events_once(
    platform: Platform, task_id: str, overlapping: list[Any]
) -> None:
    webhook_id = subscribe(platform.me()["organizationId"])
    accepted = platform.submit(task_id, {}, {}).json
    platform.score_everything()
    platform.operate("sweep_batches")
    assert [report["closed"] for report in overlapping] == [1]
    published = sorted(event["event"] for event in events(webhook_id).values())
    assert published == ["batch.completed", "score.completed", "score.completed"]
    assert checkpoints() == {accepted["batchId"]: {"scored": {0, 1}}}
    assert platform.operate("sweep_batches") == NOTHING


def test_two_sweeps_at_once_end_what_is_lost_for_good_once(
    platform: Platform, task_id: str, overlapping: list[Any]
) -> None:
    accepted = platform.submit(task_id, {}, {}).json
    platform.queued()
    past_the_deadline()
    platform.operate("sweep_batches")
    assert [report["failed"] for report in overlapping] == [1]
    assert checkpoints() == {accepted["batchId"]: {"failed": {0, 1}}}
    assert platform.batch(accepted["batchId"])["counts"]["failed"] == 2
    assert platform.operate("sweep_batches") == NOTHING


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


def test_a_cancellation_that_was_not_listed_is_made_good_by_a_sweep(
    platform: Platform, task_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    accepted = platform.submit(task_id, {}, {}).json
    far = datetime.now(UTC) + timedelta(hours=6)
    CompletionParts(SubmissionEnvironment.parse()).open_batches.postpone(accepted["batchId"], far)

    def die(*_: object, **__: object) -> None:
        raise Killed

    with monkeypatch.context() as dying:
        dying.setattr(DecisionLists, "write", die)
        with suppress(Killed):
            platform.call("POST", f"/api/v1/batches/{accepted['batchId']}/cancel")
    platform.project()
    assert checkpoints() == {}
    # Although it was not to be looked at for hours.
    sweep_batches.parts().sweeper.clock = TurnedClock(timedelta(minutes=4))
    assert platform.operate("sweep_batches") == {**NOTHING, "closed": 1}
    assert checkpoints() == {accepted["batchId"]: {"canceled": {0, 1}}}
