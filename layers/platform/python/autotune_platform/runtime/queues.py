"""Sending messages to queues, and reading what Lambda passes on of them."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.grouping import groups

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.type_defs import SendMessageBatchRequestEntryTypeDef

_MESSAGES_PER_CALL = 10


def send_all(sqs: "SQSClient", url: str, bodies: Iterable[str], *, delay_seconds: int = 0) -> None:
    """Send messages to a queue, which holds them back for 0 to 900 seconds.

    Raises:
        UnavailableError: the queue refused a message; the others may have been sent.
    """
    for some in groups(bodies, _MESSAGES_PER_CALL):
        entries: list[SendMessageBatchRequestEntryTypeDef] = [
            {"Id": str(index), "MessageBody": body, "DelaySeconds": delay_seconds}
            for index, body in enumerate(some)
        ]
        if sqs.send_message_batch(QueueUrl=url, Entries=entries).get("Failed"):
            raise UnavailableError("the queue is busy", retry_after_seconds=1)


def name_in(url_or_arn: str) -> str:
    """Return the name of a queue, which ends its URL and its ARN."""
    return url_or_arn.replace("/", ":").rpartition(":")[2]


def latest_of_queues(records: Iterable[Mapping[str, Any]]) -> dict[str, datetime]:
    """Return for each queue, by its name, when the latest of these messages of it was sent."""
    latest: dict[str, datetime] = {}
    for record in records:
        name = name_in(record["eventSourceARN"])
        sent_at = datetime.fromtimestamp(int(record["attributes"]["SentTimestamp"]) / 1_000, UTC)
        latest[name] = max(sent_at, latest.get(name, sent_at))
    return latest
