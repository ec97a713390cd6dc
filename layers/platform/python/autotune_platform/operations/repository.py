"""Queues as an operator handles them."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient


class MessageMover:
    """Moves messages from one queue to another."""

    def __init__(self, sqs: "SQSClient") -> None:
        self._sqs = sqs

    def move(self, source: str, target: str, *, most: int) -> int:
        """Move up to ``most`` messages; return how many moved.

        A message is deleted only after it was sent, so that a crash in between doubles it and never
        loses it; whatever we queue may come twice.
        """
        moved = 0
        while moved < most:
            received = self._sqs.receive_message(QueueUrl=source, MaxNumberOfMessages=10)
            messages = received.get("Messages", [])
            if not messages:
                return moved
            for message in messages:
                self._sqs.send_message(QueueUrl=target, MessageBody=message["Body"])
                self._sqs.delete_message(QueueUrl=source, ReceiptHandle=message["ReceiptHandle"])
                moved += 1
        return moved
