"""What operators see and move by hand."""

import boto3
import pytest

from tests.support.platform import Platform

pytestmark = pytest.mark.usefixtures("due_at_once")


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
    whose = message["attributes"]["MessageGroupId"]
    sqs.send_message(QueueUrl=dead, MessageBody=message["body"], MessageGroupId=whose)

    woken = sqs.get_queue_url(QueueName="webhooks-dead-letters")["QueueUrl"]
    sqs.send_message(QueueUrl=woken, MessageBody="wake")
    uncaptured = sqs.get_queue_url(QueueName="captures-dead-letters")["QueueUrl"]
    sqs.send_message(QueueUrl=uncaptured, MessageBody="org_1 llm_1")

    assert platform.operate("redrive_dead_letters") == {
        "moved": {"high": 0, "normal": 1, "low": 0, "webhooks": 1, "captures": 1, "runs": 0}
    }
    (moved,) = platform.queued()
    assert moved["body"] == message["body"]
    assert moved["attributes"]["MessageGroupId"] == whose
    assert [one["body"] for one in platform.queued("webhooks")] == ["wake"]
    assert [one["body"] for one in platform.queued("captures")] == ["org_1 llm_1"]
    assert platform.queued("normal-dead-letters") == []
