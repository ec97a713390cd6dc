"""Sending messages to queues."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

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
