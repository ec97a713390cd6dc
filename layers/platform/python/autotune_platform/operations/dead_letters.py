"""Moving dead letters back to the queues that they came from."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from autotune_platform.runtime.parts import part
from autotune_platform.runtime.queues import send_all

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

_MOST_MESSAGES = 10_000


@part
class DeadLetters:
    """Messages that could not be handled five times."""

    sqs: "SQSClient"
    queues: Mapping[str, tuple[str, str]]

    def redrive(self) -> dict[str, int]:
        """Move every dead letter back, up to 10,000 of each queue; return how many moved."""
        return {name: self._move(*queues) for name, queues in self.queues.items()}

    def _move(self, source: str, target: str) -> int:
        """Move messages of a queue to another; return how many moved.

        A message is deleted only after it was sent, so that a crash in between doubles it and never
        loses it; whatever we queue may come twice.
        """
        moved = 0
        while moved < _MOST_MESSAGES:
            received = self.sqs.receive_message(
                QueueUrl=source,
                MaxNumberOfMessages=10,
                MessageSystemAttributeNames=["MessageGroupId"],
            )
            messages = received.get("Messages", [])
            if not messages:
                return moved
            for message in messages:
                tenant = message.get("Attributes", {}).get("MessageGroupId")
                send_all(self.sqs, target, [message["Body"]], tenant=tenant)
                self.sqs.delete_message(QueueUrl=source, ReceiptHandle=message["ReceiptHandle"])
                moved += 1
        return moved
